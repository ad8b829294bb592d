//! The JSON Schemas of the types that write themselves as text, for everything generated from the wire types.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{Code, ObjectId, RelPath, Timestamp};

macro_rules! inline_schemas {
    ($($type:ty, $schema:expr;)*) => {$(
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

inline_schemas! {
    ObjectId, json_schema!({ "type": "string", "pattern": "^[0-9a-f]{40}$" });
    RelPath, json_schema!({ "type": "string", "minLength": 1 });
    Timestamp, json_schema!({ "type": "string", "format": "date-time" });
    Code, json_schema!({ "type": "string", "enum": Code::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>() });
}
