//! Decimal numbers in text, read fast and rounded as exactly as a slow reader rounds them.

/// Powers of ten that a 64-bit float holds exactly.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];
/// More digits than this overflow 64 bits.
const MOST_DIGITS: usize = 19;

/// The number at the start of `text` and its length, if it is plain enough to be read at once.
///
/// Digits become a whole number and a power of ten, and those a 64-bit float that is off by one unit in the last
/// place at most. Rounding that to 32 bits gives what rounding the exact value gives, unless it lies next to the
/// middle between two 32-bit floats: then, as for anything unusual, the answer is none and [`exact`] is asked.
pub(crate) fn prefix(text: &[u8]) -> Option<(f32, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let (whole, at) = digits(text, start, 0);
    let mut count = at - start;
    let (mut mantissa, mut end, mut scale) = (whole, at, 0);
    if text.get(at) == Some(&b'.') {
        (mantissa, end) = digits(text, at + 1, whole);
        scale = end - at - 1;
        count += scale;
    }
    if count == 0 || count > MOST_DIGITS {
        return None;
    }
    // At most 19 digits were read.
    let mut exponent = -i32::try_from(scale).ok()?;
    if let Some(b'e' | b'E') = text.get(end) {
        let (power, after) = power(text, end + 1)?;
        exponent += power;
        end = after;
    }
    let wide = scaled(mantissa, exponent)?;
    let narrow = round(wide)?;
    Some((if negative { -narrow } else { narrow }, end))
}

/// Reads digits on from `at` into `value`; gives it and where they end. Past 19 digits the value is of no use.
fn digits(text: &[u8], mut at: usize, mut value: u64) -> (u64, usize) {
    while let Some(eight) = text.get(at..at + 8).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()) {
        let Some(number) = eight_digits(u64::from_le_bytes(eight)) else { break };
        value = value.wrapping_mul(100_000_000).wrapping_add(number);
        at += 8;
    }
    while let Some(digit @ b'0'..=b'9') = text.get(at) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        at += 1;
    }
    (value, at)
}

/// Eight digits at once, the first in the lowest byte: neighbors are joined to pairs, fours, and the whole.
fn eight_digits(bytes: u64) -> Option<u64> {
    const HIGH: u64 = 0xF0F0_F0F0_F0F0_F0F0;
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let above = bytes.wrapping_add(0x0606_0606_0606_0606);
    if (bytes & HIGH) != ZEROS || (above & HIGH) != ZEROS {
        return None;
    }
    let ones = bytes - ZEROS;
    let pairs = (ones.wrapping_mul(10) + (ones >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    Some((fours.wrapping_mul(10_000) + (fours >> 32)) & 0xFFFF_FFFF)
}

/// The power after an `e`, and where it ends.
fn power(text: &[u8], at: usize) -> Option<(i32, usize)> {
    let signed = matches!(text.get(at), Some(b'-' | b'+'));
    let begin = at + usize::from(signed);
    let (value, end) = digits(text, begin, 0);
    if end == begin || end - begin > 3 {
        return None;
    }
    let value = value as i32;
    Some((if text[at] == b'-' { -value } else { value }, end))
}

fn scaled(mantissa: u64, exponent: i32) -> Option<f64> {
    let tens = *TENS.get(exponent.unsigned_abs() as usize)?;
    Some(if exponent < 0 { mantissa as f64 / tens } else { mantissa as f64 * tens })
}

/// The 32-bit float next to `wide`, if an error in the last places of `wide` cannot change it.
fn round(wide: f64) -> Option<f32> {
    if wide == 0.0 {
        return Some(0.0);
    }
    if !(f64::from(f32::MIN_POSITIVE)..f64::from(f32::MAX)).contains(&wide) {
        return None;
    }
    // 29 bits are rounded away; the middle between two results is a one and 28 zeros.
    let lost = wide.to_bits() & 0x1FFF_FFFF;
    (lost.abs_diff(0x1000_0000) > 4).then_some(wide as f32)
}

/// The number that the whole of `text` is, by the standard library; infinities and NaN are numbers here.
pub(crate) fn exact(text: &[u8]) -> Option<f32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Whether the text stands for a value that is not there.
pub(crate) fn is_missing(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 6] = [b"na", b"n/a", b"nan", b"null", b"none", b"?"];
    text.is_empty() || (text.len() <= 4 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_ends_where_its_text_does() {
        assert_eq!(prefix(b"12,3"), Some((12.0, 2)));
        assert_eq!(prefix(b"-0.5\n"), Some((-0.5, 4)));
        assert_eq!(prefix(b"1.5e-3;"), Some((0.0015, 6)));
        assert_eq!(prefix(b"123456789.125"), Some((123_456_789.125_f32, 13)));
        for odd in ["", "-", ".", "e5", "x", "1e", "1e9999", "12345678901234567890", "inf", "NaN"] {
            assert_eq!(prefix(odd.as_bytes()), None, "{odd}");
        }
    }

    #[test]
    fn the_middle_between_two_floats_is_left_to_the_exact_reader() {
        assert_eq!(prefix(b"16777217"), None);
        assert_eq!(exact(b"16777217"), Some(16_777_216.0));
    }

    proptest! {
        #[test]
        fn every_number_is_rounded_as_the_standard_library_does(value in any::<f64>(), places in 0_usize..18) {
            for text in [format!("{value}"), format!("{value:e}"), format!("{value:.places$}"), format!("{}", value as f32)] {
                if let Some((read, length)) = prefix(text.as_bytes()) {
                    prop_assert_eq!(length, text.len());
                    prop_assert_eq!(read.to_bits(), text.parse::<f32>().unwrap().to_bits(), "{}", text);
                }
            }
        }

        #[test]
        fn small_numbers_are_read_at_once_and_right(whole in -100_000_i64..100_000, fraction in 0_u64..1_000_000_000_000) {
            let text = format!("{whole}.{fraction}");
            let (read, length) = prefix(text.as_bytes()).unwrap_or((exact(text.as_bytes()).unwrap(), text.len()));
            prop_assert_eq!((read.to_bits(), length), (text.parse::<f32>().unwrap().to_bits(), text.len()));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = prefix(&bytes);
            let _ = exact(&bytes);
        }
    }
}
