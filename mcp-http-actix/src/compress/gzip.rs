//! One gzip member, as a body that is sent piece by piece.
//!
//! Source: RFC 1951 section 3.2.4; RFC 1952 section 2.3.

use std::{
    cell::Cell,
    error::Error,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};

/// The body in gzip, or as it was.
pub(super) fn encoded(body: BoxBody) -> Result<BoxBody, BoxBody> {
    match body.try_into_bytes() {
        Ok(bytes) => Encoder::whole(&bytes)
            .map(BoxBody::new)
            .map_err(|_| BoxBody::new(bytes)),
        Err(body) => Ok(BoxBody::new(Gzip {
            body,
            encoder: Some(Encoder::default()),
        })),
    }
}

/// A stream as a gzip member: whatever has been sent of it can be decoded.
struct Gzip {
    body: BoxBody,
    /// None once the stream has ended.
    encoder: Option<Encoder>,
}

impl MessageBody for Gzip {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = self.get_mut();
        let Some(encoder) = &mut this.encoder else {
            return Poll::Ready(None);
        };
        let mut sent = Vec::new();
        let encoded = match ready!(Pin::new(&mut this.body).poll_next(context)) {
            Some(Ok(chunk)) => encoder.write(&chunk, &mut sent),
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => {
                encoder.end(&mut sent);
                this.encoder = None;
                Ok(())
            }
        };
        Poll::Ready(Some(match encoded {
            Ok(()) => Ok(sent.into()),
            Err(error) => Err(error.into()),
        }))
    }
}

/// Writes one gzip member, each piece up to a byte's end (`Z_SYNC_FLUSH`).
///
/// Between pieces the compressor can go: what follows then only refers back to nothing.
#[derive(Default)]
struct Encoder {
    begun: bool,
    compressor: Option<Compress>,
    crc: Crc,
}

impl Encoder {
    fn whole(data: &[u8]) -> io::Result<Vec<u8>> {
        let mut encoder = Self::default();
        let mut into = Vec::with_capacity(data.len() / 2);
        encoder.write(data, &mut into)?;
        encoder.end(&mut into);
        into.shrink_to_fit();
        Ok(into)
    }

    fn write(&mut self, data: &[u8], into: &mut Vec<u8>) -> io::Result<()> {
        self.begin(into);
        self.crc.update(data);
        match u8::try_from(data.len()) {
            Ok(length) if length <= SHORT => {
                self.rest();
                into.extend([0, length, 0, !length, !0]);
                into.extend(data);
                Ok(())
            }
            _ => self.deflate(data, into),
        }
    }

    fn begin(&mut self, into: &mut Vec<u8>) {
        if !self.begun {
            self.begun = true;
            into.extend(HEADER);
        }
    }

    fn deflate(&mut self, mut data: &[u8], into: &mut Vec<u8>) -> io::Result<()> {
        let compressor = self.compressor.get_or_insert_with(compressor);
        loop {
            into.reserve(data.len() / 2 + ROOM);
            let before = compressor.total_in();
            let status = compressor.compress_vec(data, into, FlushCompress::Sync)?;
            if status != Status::Ok {
                return Err(io::Error::other("the compressor is stuck"));
            }
            let taken = usize::try_from(compressor.total_in() - before);
            data = taken
                .ok()
                .and_then(|taken| data.get(taken..))
                .unwrap_or(&[]);
            // A full buffer may not be all of it.
            if data.is_empty() && into.len() < into.capacity() {
                return Ok(());
            }
        }
    }

    fn end(&mut self, into: &mut Vec<u8>) {
        self.begin(into);
        into.extend(LAST_BLOCK);
        into.extend(self.crc.sum().to_le_bytes());
        into.extend(self.crc.amount().to_le_bytes());
        self.rest();
    }

    /// Lets the compressor go, to the next stream that needs one.
    fn rest(&mut self) {
        if let Some(compressor) = self.compressor.take() {
            spare(compressor);
        }
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        self.rest();
    }
}

/// The thread's spare compressor: making one takes ten times as long as resetting it.
fn compressor() -> Compress {
    let spare = SPARE.try_with(Cell::take).ok().flatten();
    spare.unwrap_or_else(|| Compress::new(Compression::fast(), false))
}

fn spare(mut compressor: Compress) {
    // A thread that ends has no use for it.
    let _ = SPARE.try_with(|spare| match spare.take() {
        // Resetting would touch all of what is given back now.
        Some(kept) => spare.set(Some(kept)),
        None => {
            compressor.reset();
            spare.set(Some(compressor));
        }
    });
}

thread_local! {
    static SPARE: Cell<Option<Compress>> = const { Cell::new(None) };
}

/// A keep-alive comment is no longer: it goes as it is, and the silent stream's compressor too.
const SHORT: u8 = 32;
/// What is always free in a buffer that is compressed into.
const ROOM: usize = 64;
/// Deflate without name, comment and time, by the fastest algorithm, of no system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff];
/// An empty block of fixed codes that says it is the last.
const LAST_BLOCK: [u8; 2] = [3, 0];

#[cfg(test)]
pub(super) mod tests {
    use std::{collections::VecDeque, iter};

    use flate2::{Decompress, FlushDecompress};

    use super::*;

    /// A client's side of a member: takes pieces as they come.
    pub(in crate::compress) struct Decoder {
        inflate: Decompress,
        crc: Crc,
        begun: bool,
        pub(in crate::compress) ended: bool,
    }

    impl Decoder {
        pub(in crate::compress) fn new() -> Self {
            Self {
                inflate: Decompress::new(false),
                crc: Crc::new(),
                begun: false,
                ended: false,
            }
        }

        /// All that a piece lets one read.
        pub(in crate::compress) fn read(&mut self, mut piece: &[u8]) -> Vec<u8> {
            if !self.begun {
                self.begun = true;
                piece = piece.strip_prefix(&HEADER).unwrap();
            }
            let mut read = Vec::new();
            loop {
                read.reserve(1 << 10);
                let before = self.inflate.total_in();
                let flush = FlushDecompress::None;
                let status = self
                    .inflate
                    .decompress_vec(piece, &mut read, flush)
                    .unwrap();
                piece = &piece[(self.inflate.total_in() - before) as usize..];
                self.ended = status == Status::StreamEnd;
                if self.ended || piece.is_empty() && read.len() < read.capacity() {
                    break;
                }
            }
            self.crc.update(&read);
            if self.ended {
                let [crc, length] = [self.crc.sum(), self.crc.amount()].map(u32::to_le_bytes);
                assert_eq!(piece, [crc, length].concat());
            }
            read
        }
    }

    fn noise(length: usize) -> Vec<u8> {
        let mut state = length as u64 + 1;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        };
        iter::repeat_with(&mut next).take(length).collect()
    }

    /// A body of those chunks.
    struct Script(VecDeque<Vec<u8>>);

    impl MessageBody for Script {
        type Error = io::Error;

        fn size(&self) -> BodySize {
            BodySize::Stream
        }

        fn poll_next(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<io::Result<Bytes>>> {
            Poll::Ready(self.0.pop_front().map(|chunk| Ok(chunk.into())))
        }
    }

    fn next(body: &mut BoxBody) -> Option<Bytes> {
        let context = &mut Context::from_waker(std::task::Waker::noop());
        match Pin::new(body).poll_next(context) {
            Poll::Ready(next) => next.map(Result::unwrap),
            Poll::Pending => panic!("the body waits"),
        }
    }

    #[test]
    fn a_piece_can_be_decoded_when_it_is_sent() {
        let event = |at| format!("event: message\ndata: {{\"progress\":{at}}}\n\n").into_bytes();
        let mut chunks = vec![event(1), event(2), b": keep-alive\n\n".to_vec(), event(3)];
        for length in [
            0,
            1,
            32,
            33,
            127,
            128,
            255,
            256,
            257,
            4 << 10,
            85_196,
            1 << 20,
        ] {
            chunks.extend([noise(length), vec![b'a'; length]]);
        }
        chunks.extend((0..300).map(noise));
        let mut body = encoded(BoxBody::new(Script(chunks.clone().into()))).unwrap();
        let mut decoder = Decoder::new();
        for chunk in chunks {
            let piece = next(&mut body).unwrap();
            assert!(decoder.read(&piece) == chunk, "{} bytes", chunk.len());
            assert!(!decoder.ended);
        }
        assert_eq!(decoder.read(&next(&mut body).unwrap()), b"");
        assert!(decoder.ended);
        assert_eq!(next(&mut body), None);
        assert_eq!(next(&mut body), None);
    }

    #[test]
    fn a_stream_of_nothing_is_a_member() {
        let mut body = encoded(BoxBody::new(Script(VecDeque::new()))).unwrap();
        let mut decoder = Decoder::new();
        assert_eq!(decoder.read(&next(&mut body).unwrap()), b"");
        assert!(decoder.ended);
    }

    #[test]
    fn a_later_event_refers_to_an_earlier_one() {
        let (mut encoder, event) = (Encoder::default(), noise(500));
        let mut sent = |data: &[u8]| {
            let mut into = Vec::new();
            encoder.write(data, &mut into).unwrap();
            into.len()
        };
        assert!(sent(&event) > 500);
        assert!(sent(&event) < 50);
    }

    #[test]
    fn a_used_compressor_remembers_nothing() {
        let sent: Vec<_> = (0..3)
            .map(|_| Encoder::whole(&noise(5000)).unwrap())
            .collect();
        assert!(SPARE.take().is_some());
        let first = Encoder::whole(&noise(5000)).unwrap();
        assert!(sent.iter().all(|sent| sent.len() > 5000 && *sent == first));
    }

    #[test]
    fn a_silent_stream_has_no_compressor() {
        let mut encoder = Encoder::default();
        let mut into = Vec::new();
        encoder.write(&noise(500), &mut into).unwrap();
        assert!(encoder.compressor.is_some());
        encoder.write(b": keep-alive\n\n", &mut into).unwrap();
        assert!(encoder.compressor.is_none());
    }
}
