//! Numbers as Python writes what it read.

use std::fmt::{self, Write};

use crate::json::Number;

/// Appends a scanned number in its canonical form.
pub(crate) fn canonical(out: &mut Vec<u8>, number: Number<'_>) {
    let Number {
        text,
        whole,
        has_exponent,
    } = number;
    if text == "-0" {
        // Python's integers have no negative zero.
        out.push(b'0');
    } else if !has_exponent && (whole == text.len() || is_canonical(text.as_bytes(), whole)) {
        out.extend_from_slice(text.as_bytes());
    } else {
        float(out, text.parse().unwrap_or(f64::NAN));
    }
}

/// Whether a number with a fraction and no exponent is certainly the shortest one already.
///
/// Different decimals of up to 15 digits are different doubles, so the shortest decimal that reads
/// back is the same digits without zeros at either end.
fn is_canonical(text: &[u8], whole: usize) -> bool {
    let (whole, fraction) = text.split_at_checked(whole).unwrap_or_default();
    let small = matches!(whole, b"0" | b"-0") && fraction.starts_with(b".0000");
    let shortest = fraction == b".0" || fraction.last() != Some(&b'0');
    text.len() <= 16 && !small && shortest
}

/// Appends a double the way Python's `repr` does: the shortest digits that read back, positional
/// for exponents -4 to 15.
pub(crate) fn float(out: &mut Vec<u8>, value: f64) {
    if value.is_nan() {
        return out.extend_from_slice(b"NaN");
    }
    if value.is_sign_negative() {
        out.push(b'-');
    }
    if value.is_infinite() {
        return out.extend_from_slice(b"Infinity");
    }
    if let Some(thousandths) = thousandths(value.abs()) {
        return decimal(out, thousandths);
    }
    let scientific = shortest(value.abs());
    let (first, rest, exponent) = scientific.parts();
    match usize::try_from(exponent) {
        Ok(places @ 0..16) => positional(out, first, rest, places),
        Err(_) if exponent >= -4 => {
            out.extend_from_slice(b"0.");
            out.extend((exponent..-1).map(|_| b'0'));
            out.extend_from_slice(first);
            out.extend_from_slice(rest);
        }
        _ => {
            out.extend_from_slice(first);
            if !rest.is_empty() {
                out.push(b'.');
                out.extend_from_slice(rest);
            }
            // In Rust's spelling, a plus and a second digit are missing.
            out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
            if exponent.unsigned_abs() < 10 {
                out.push(b'0');
            }
            out.extend_from_slice(scientific.exponent_digits());
        }
    }
}

/// How many thousandths a positive double is, if it is the one nearest to a whole number of them
/// and they have at most 15 digits: times in milliseconds, mostly.
///
/// Different decimals of up to 15 digits are different doubles, so those digits are the shortest.
fn thousandths(value: f64) -> Option<u64> {
    let thousandths = (value * 1000.0).round();
    let few = (1.0..1e15).contains(&thousandths);
    (few && thousandths / 1000.0 == value).then_some(thousandths as u64)
}

/// Writes fewer than 10^15 thousandths as a decimal, without zeros at the end of its fraction.
fn decimal(out: &mut Vec<u8>, thousandths: u64) {
    let (mut whole, fraction) = (thousandths / 1000, thousandths % 1000);
    let mut digits = [0; 12];
    let mut start = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = decimal_digit(whole);
        whole /= 10;
        start -= 1;
        if whole == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(start..).unwrap_or_default());
    let places = [fraction / 100, fraction / 10, fraction].map(decimal_digit);
    let len = match places {
        [_, b'0', b'0'] => 1,
        [_, _, b'0'] => 2,
        _ => 3,
    };
    out.push(b'.');
    out.extend_from_slice(places.get(..len).unwrap_or_default());
}

/// The last digit of a number.
const fn decimal_digit(number: u64) -> u8 {
    b'0' + (number % 10) as u8
}

/// The shortest digits that read back as the value, in scientific notation; where two are equally
/// close to it, the even ones.
///
/// Rust's own choice between such two is the upper one. They exist only where the value ends one
/// digit after the shortest digits, so only where its lowest bit is neither too small nor too big.
fn shortest(value: f64) -> Scientific {
    let shortest = Scientific::of(format_args!("{value:e}"));
    let (first, rest, _) = shortest.parts();
    let last = rest
        .last()
        .or_else(|| first.last())
        .copied()
        .unwrap_or_default();
    if last.is_multiple_of(2) || !(-25..=82).contains(&lowest_bit(value)) {
        return shortest;
    }
    let places = rest.len();
    let nearest = Scientific::of(format_args!("{value:.places$e}"));
    if nearest.value() == Some(value) {
        nearest
    } else {
        shortest
    }
}

/// The exponent of the lowest bit set in a positive, finite double.
fn lowest_bit(value: f64) -> i32 {
    let bits = value.to_bits();
    let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let mantissa = if exponent == 0 {
        fraction
    } else {
        fraction | 1 << 52
    };
    let shift = i32::try_from(mantissa.trailing_zeros()).unwrap_or_default();
    i32::try_from(exponent.max(1)).unwrap_or_default() - 1075 + shift
}

/// Writes the digits with the point moved `places` to the right.
fn positional(out: &mut Vec<u8>, first: &[u8], rest: &[u8], places: usize) {
    out.extend_from_slice(first);
    let (whole, fraction) = rest.split_at_checked(places).unwrap_or((rest, b""));
    out.extend_from_slice(whole);
    out.extend((whole.len()..places).map(|_| b'0'));
    out.push(b'.');
    out.extend_from_slice(if fraction.is_empty() { b"0" } else { fraction });
}

/// What Rust's `{:e}` writes, such as `1.2345678901234567e-300`, without an allocation.
#[derive(Default)]
struct Scientific {
    bytes: [u8; 32],
    len: usize,
}

impl Scientific {
    fn of(text: fmt::Arguments<'_>) -> Self {
        let mut new = Self::default();
        let written = new.write_fmt(text);
        debug_assert!(written.is_ok());
        new
    }

    fn text(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    fn value(&self) -> Option<f64> {
        str::from_utf8(self.text()).ok()?.parse().ok()
    }

    /// The digit before the point, the digits after it, the exponent.
    fn parts(&self) -> (&[u8], &[u8], i32) {
        let text = self.text();
        let end = text
            .iter()
            .rposition(|byte| *byte == b'e')
            .unwrap_or(text.len());
        let (mantissa, exponent) = text.split_at_checked(end).unwrap_or_default();
        let (first, rest) = mantissa.split_at_checked(1).unwrap_or_default();
        let digits = self.exponent_digits().iter();
        let size = digits.fold(0, |size, digit| size * 10 + i32::from(digit - b'0'));
        let exponent = if exponent.starts_with(b"e-") {
            -size
        } else {
            size
        };
        (first, rest.strip_prefix(b".").unwrap_or_default(), exponent)
    }

    fn exponent_digits(&self) -> &[u8] {
        self.text()
            .rsplit(|byte| !byte.is_ascii_digit())
            .next()
            .unwrap_or_default()
    }
}

impl Write for Scientific {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        let room = self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(number: &str, expected: &str) {
        let mut out = Vec::new();
        let whole = number.find(['.', 'e', 'E']).unwrap_or(number.len());
        let has_exponent = number.contains(['e', 'E']);
        canonical(
            &mut out,
            Number {
                text: number,
                whole,
                has_exponent,
            },
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{number}");
    }

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        check("-0", "0");
        check("-0.0", "-0.0");
        check("-0e7", "-0.0");
        check("0e99999999999", "0.0");
        check("1e99999999999", "Infinity");
        check("1.50", "1.5");
        check("12.0", "12.0");
        check("12.00", "12.0");
        check("0.0001", "0.0001");
        check("0.00010", "0.0001");
        check("0.00001", "1e-05");
        check("-0.00001234", "-1.234e-05");
        check("9999999999999998.0", "9999999999999998.0");
        check("1e16", "1e+16");
        check("99999999999999999.0", "1e+17");
        check("1E+2", "100.0");
        check("12e-1", "1.2");
        check("123456789012345.6", "123456789012345.6");
        check("0.30000000000000004", "0.30000000000000004");
        check("0.300000000000000040", "0.30000000000000004");
        check("5e-324", "5e-324");
        check("1e-400", "0.0");
        check("1e100", "1e+100");
        check("1.7976931348623159e308", "Infinity");
        // Half way between two shortest ones: the even one.
        check("28949165011110.5625", "28949165011110.562");
        check("844744499850036.25", "844744499850036.2");
        check("844744499850036.75", "844744499850036.8");
        // The nearest of 17 digits does not read back: the neighbour below is half as far away.
        check("9.5367431640625e-07", "9.5367431640625e-07");
        check("5.684341886080802e-14", "5.684341886080802e-14");
    }

    #[test]
    fn times_in_milliseconds_are_written_as_any_other_double() {
        let times = [1, 5, 10, 100, 123, 999, 1000, 1010, 12_000];
        let moments = [1_790_000_000_123, 1_790_000_000_120, 1_790_000_000_000];
        let most = [999_999_999_999_999, 100_000_000_000_000];
        for count in [&times[..], &moments, &most].concat() {
            let value = count as f64 / 1000.0;
            assert_eq!(thousandths(value), Some(count), "{value}");
            let mut out = Vec::new();
            float(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{value:?}"));
        }
        for other in [0.0, 0.0001, 0.1 + 0.2, 1_790_000_000.123_4, 1e12, 1e300] {
            assert_eq!(thousandths(other), None, "{other}");
        }
        assert_eq!(thousandths(f64::NAN), None);
    }

    #[test]
    fn the_shortcut_agrees_with_the_long_way() {
        for whole in ["0", "1", "10", "907", "123456789012"] {
            for fraction in ["0", "5", "05", "0005", "00005", "50", "00", "125", "000125"] {
                let number = format!("{whole}.{fraction}");
                let (mut short, mut long) = (Vec::new(), Vec::new());
                let number = Number {
                    text: &number,
                    whole: whole.len(),
                    has_exponent: false,
                };
                canonical(&mut short, number);
                float(&mut long, number.text.parse().unwrap());
                assert_eq!(short, long, "{}", number.text);
            }
        }
    }
}
