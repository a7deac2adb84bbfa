//! Settings of a method, each written once: its name, type, default, range and meaning.

use serde_json::Value;

/// One setting of a method, for help and reference pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name in a settings file.
    pub name: &'static str,
    /// What it means.
    pub about: String,
    /// Its value where none is given; null where that follows from the task.
    pub default: Value,
}

/// Where the values of a setting must lie.
pub(super) struct Range {
    pub(super) expected: &'static str,
    pub(super) holds: fn(f64) -> bool,
}

pub(super) const ABOVE_ZERO: Range = Range { expected: "above 0", holds: |x| x > 0.0 && x.is_finite() };
pub(super) const AT_LEAST_ZERO: Range =
    Range { expected: "at least 0", holds: |x| x >= 0.0 && x.is_finite() };
pub(super) const INSIDE_UNIT: Range = Range { expected: "in (0, 1)", holds: |x| x > 0.0 && x < 1.0 };
pub(super) const UP_TO_ONE: Range = Range { expected: "in (0, 1]", holds: |x| x > 0.0 && x <= 1.0 };

/// The first key that no setting has.
pub(super) fn stranger<'a>(fields: &[Field], given: &'a Value) -> Option<&'a str> {
    let keys = given.as_object().into_iter().flat_map(|table| table.keys());
    keys.map(String::as_str).find(|key| fields.iter().all(|field| field.name != *key))
}

/// A struct of settings with its defaults, ranges and help.
///
/// `name: type = default => RANGE`; the range may be left out.
macro_rules! settings {
    (
        #[doc = $about:literal]
        $(#[doc = $more:literal])*
        $settings:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr $(=> $range:expr)?,)*
        }
    ) => {
        #[doc = $about]
        $(#[doc = $more])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $settings {
            $($(#[doc = $doc])+ pub $field: $type,)*
        }

        impl Default for $settings {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $settings {
            pub(super) const ABOUT: &str = $about;

            pub(super) fn fields() -> Vec<super::Field> {
                vec![$(super::Field {
                    name: stringify!($field),
                    about: [$($doc),+].map(str::trim).join(" "),
                    default: serde_json::to_value::<$type>($default).unwrap_or_default(),
                },)*]
            }

            #[allow(clippy::unnecessary_cast, clippy::unnecessary_wraps, unused_variables)]
            pub(super) fn check(&self, key: &str) -> Result<(), crate::Error> {
                $($(if !($range.holds)(self.$field as f64) {
                    return Err(crate::Error::Setting {
                        key: format!("{key}.{}", stringify!($field)),
                        expected: $range.expected,
                        found: self.$field.to_string(),
                    });
                })?)*
                Ok(())
            }
        }
    };
}
