//! The subcommands, one file each.

/// The one list of subcommands: from it follow the parser, the help and the dispatch.
macro_rules! commands {
    ($($module:ident::$name:ident),+ $(,)?) => {
        $(mod $module;)+

        /// What the user asked for. There is only ever one, so its size does not matter.
        #[derive(Debug, clap::Subcommand)]
        #[allow(clippy::large_enum_variant)]
        pub(crate) enum Command {
            $(#[allow(missing_docs)] $name($module::$name),)+
        }

        impl Command {
            /// Does it.
            pub(crate) fn run(self) -> anyhow::Result<()> {
                match self { $(Self::$name(command) => command.run(),)+ }
            }
        }
    };
}

pub(crate) use noise::WrongUse;

commands! {
    demo::Demo,
    fit::Fit,
    audit::Audit,
    resume::Resume,
    sweep::Sweep,
    table::Table,
    predict::Predict,
    report::Report,
    plot::Plot,
    inspect::Inspect,
    get::Get,
    noise::Noise,
    methods::Methods,
    models::Models,
    formats::Formats,
    devices::Devices,
}
