// The texts of a page whose contrast is below 4.5, the least that WCAG 2 (AA) asks for.
const numbers = (color) => color.match(/[\d.]+/g).map(Number);
const luminance = ([red, green, blue]) => {
  const linear = [red, green, blue].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const mixed = (below, above, share) => below.slice(0, 3).map((c, at) => c + share * (above[at] - c));
const paper = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const color = numbers(getComputedStyle(at).backgroundColor);
    if (color.length === 3 || color[3] === 1) return color;
  }
  return [255, 255, 255];
};
const behind = (element) => {
  const cell = element.previousElementSibling;
  if (element.matches(".on-faint, .on-dense")) {
    return mixed(paper(element), numbers(getComputedStyle(cell).fill), Number(cell.getAttribute("fill-opacity")));
  }
  return paper(element);
};
const poor = [];
for (const element of document.body.querySelectorAll("*")) {
  const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  if (!own || element.matches("script, title") || !element.checkVisibility()) continue;
  const style = getComputedStyle(element);
  const color = numbers(element instanceof SVGElement ? style.fill : style.color);
  const [low, high] = [luminance(color), luminance(behind(element))].sort((a, b) => a - b);
  const ratio = (high + 0.05) / (low + 0.05);
  if (ratio < 4.5) poor.push(`${element.textContent.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
}
return poor;
