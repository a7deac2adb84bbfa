use crate::typed;
use snapbox::{file, str};

#[test]
fn the_list_has_a_line_for_each_method() {
    let output = typed("methods").assert().success().stderr_eq("").get_output().stdout.clone();
    let names: Vec<String> = String::from_utf8(output)
        .unwrap()
        .lines()
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(names, cleanest_core::methods::Choice::NAMES);
}

#[test]
fn a_method_shows_its_settings_with_their_defaults() {
    typed("methods gce").assert().success().stdout_eq(str![[r#"
gce: generalized cross-entropy, between cross-entropy and mean absolute error

gce.q = 0.7
    The exponent q: near 0 it is cross-entropy, at 1 mean absolute error. 0.7 is its authors' choice; the TV paper gives none.

"#]]);
}

#[test]
fn an_unknown_method_is_refused_with_the_nearest_one() {
    typed("methods tdv").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error: no method is called `tdv`
hint: did you mean `tvd`?

"#]]);
}

#[test]
fn the_reference_page_says_what_the_command_says() {
    typed("methods --markdown").assert().success().stdout_eq(file!["../../../../docs/reference/methods.md"]);
}
