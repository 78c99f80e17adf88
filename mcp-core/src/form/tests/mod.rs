//! Forms from types, made by hand and refused; answers read and refused.

mod answers;
mod fixtures;
mod hand_made;
mod refusals;
mod shapes;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value, json};

use super::form_of;

/// The form that `T` describes, as it is written.
#[track_caller]
fn written<T: JsonSchema + DeserializeOwned + 'static>() -> String {
    serde_json::to_string(&*form_of::<T>().unwrap()).unwrap()
}

/// The one field of the form that `T` describes.
#[track_caller]
fn field<T: JsonSchema + DeserializeOwned + 'static>() -> Value {
    let form = form_of::<T>().unwrap();
    let [(_, field)] = form.properties.as_slice() else {
        panic!("not one field")
    };
    json!(field)
}

/// Why `T` describes no form.
#[track_caller]
fn refused<T: JsonSchema + DeserializeOwned + 'static>() -> String {
    form_of::<T>().unwrap_err().to_string()
}

fn float(value: f64) -> Number {
    Number::from_f64(value).unwrap()
}
