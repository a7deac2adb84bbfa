//! From the list of methods to their names, settings and help.

/// Makes the modules of the methods, and [`Choice`](super::Choice) over their settings.
macro_rules! methods {
    ($($name:literal => $module:ident::$settings:ident),+ $(,)?) => {
        $(mod $module;)+
        $(pub use $module::$settings;)+

        /// A method with its settings: what a user chooses.
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        #[allow(missing_docs)]
        pub enum Choice {
            $($settings($settings),)+
        }

        impl Choice {
            /// The names of all methods.
            pub const NAMES: &[&str] = &[$($name),+];

            /// The method of this name with the default settings, which are the paper's.
            pub fn named(name: &str) -> Result<Self, Error> {
                match name {
                    $($name => Ok(Self::$settings($settings::default())),)+
                    _ => Err(Error::unknown("method", name, Self::NAMES.iter().copied())),
                }
            }

            /// The method of this name with some of its settings given, as in a table of a TOML file.
            pub fn with_settings(name: &str, given: &serde_json::Value) -> Result<Self, Error> {
                let choice = Self::named(name)?;
                if let Some(stranger) = settings::stranger(&choice.fields(), given) {
                    let fields = choice.fields();
                    return Err(Error::unknown("setting", stranger, fields.iter().map(|field| field.name)).in_method(choice.name()));
                }
                let wrong = |problem: serde_json::Error| Error::Settings { method: name.to_owned(), problem: problem.to_string() };
                let choice = match name {
                    $($name => Self::$settings(serde_json::from_value(given.clone()).map_err(wrong)?),)+
                    _ => choice,
                };
                choice.check()?;
                Ok(choice)
            }

            /// The name of the method.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$settings(_) => $name,)+ }
            }

            /// The name of its type, as languages with classes call it.
            #[must_use]
            pub fn type_name(&self) -> &'static str {
                match self { $(Self::$settings(_) => stringify!($settings),)+ }
            }

            /// The key of the table of its settings: the name in snake case.
            #[must_use]
            pub fn key(&self) -> String {
                self.name().replace('-', "_")
            }

            /// What the method does, in a sentence.
            #[must_use]
            pub fn about(&self) -> &'static str {
                match self { $(Self::$settings(_) => $settings::ABOUT.trim(),)+ }
            }

            /// Its settings: name, meaning, default.
            #[must_use]
            pub fn fields(&self) -> Vec<Field> {
                match self { $(Self::$settings(_) => $settings::fields(),)+ }
            }

            /// Refuses a setting outside its range by name.
            pub fn check(&self) -> Result<(), Error> {
                match self { $(Self::$settings(settings) => settings.check(&self.key()),)+ }
            }

            /// Whether the noise is counted once more over all examples when training ends, in place of the method's own
            /// estimate.
            #[must_use]
            pub fn counts_at_the_end(&self) -> bool {
                matches!(self, Self::Tvd(tvd) if tvd.final_pass == Some(true))
            }

            /// The method, ready for its first stage.
            pub fn build(&self, task: &Task) -> Result<Box<dyn Method>, Error> {
                self.check()?;
                if task.classes < 2 {
                    return Err(Error::TooFewClasses(task.classes));
                }
                let built = match self { $(Self::$settings(settings) => settings.build(task),)+ };
                built.map_err(|problem| problem.in_method(self.name()))
            }
        }
    };
}

pub(super) use methods;
