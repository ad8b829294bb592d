//! What reads words of debuggers and of the programs they run, as functions of bytes, for the fuzzer: none may panic, hang or take
//! memory without bound. No part of the interface.

/// What a debug adapter sends: frames with a header, then messages, then what every body may be. The first byte says in how
/// large pieces it arrives; how many messages were understood.
pub fn adapter(bytes: &[u8]) -> usize {
    let Some((piece, bytes)) = bytes.split_first() else { return 0 };
    crate::dap::connection::read_bytes(bytes, usize::from(*piece))
}

/// What Node's inspector sends, one message a line, and what is translated of it; how many were understood.
pub fn inspector(bytes: &[u8]) -> usize {
    crate::adapters::node::translate_bytes(bytes)
}

/// What a walker answers from inside a program; whether it can be read.
pub fn walker(bytes: &[u8]) -> bool {
    crate::walk::read_bytes(bytes)
}

/// What a program prints or holds, on its way to whoever asked; without its secrets.
pub fn redacted(text: &str) -> String {
    backsight_redact::Redactor::of_program(7).spoken(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_well_formed_is_understood() {
        let body = br#"{"type":"event","event":"stopped","body":{"reason":"step"}}"#;
        let bytes = [&[3][..], &crate::dap::wire::encode(body)].concat();
        assert_eq!(adapter(&bytes), 1);
        let lines = b"{\"id\":1,\"result\":{}}\n{\"method\":\"Debugger.paused\",\"params\":{\"callFrames\":[{}]}}\nx";
        assert_eq!(inspector(lines), 2);
        assert!(walker(b"{\"frames\":[]}") && !walker(b"{"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            adapter(&bytes);
            inspector(&bytes);
            walker(&bytes);
            redacted(&String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn any_messages_are_survived(body in "(\\{|\\}|\\[|\\]|,|:|\"(id|result|method|params|callFrames|scopeChain|object|objectId|functionLocation|lineNumber|type|body|event|request_seq|success)\"|[0-9]{1,3}|null|\"x\"){0,40}") {
            adapter(&[&[5][..], &crate::dap::wire::encode(body.as_bytes())].concat());
            inspector(body.as_bytes());
            walker(body.as_bytes());
        }
    }
}
