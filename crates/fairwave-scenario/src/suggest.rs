//! Spelling suggestions: the most similar name.

/// The candidate most similar to `given`, within limits: at most a third of the letters differ (one for short words), or one is a
/// prefix of the other. If the candidate is the prefix, `given` has at most twice its length.
pub(crate) fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = given.to_lowercase().replace('_', "-");
    candidates
        .into_iter()
        .map(|candidate| {
            let other = candidate.to_lowercase();
            let is_longer = other.len() >= 4 && folded.len() <= 2 * other.len() && folded.starts_with(&other);
            let prefix = folded.len() >= 3 && (other.starts_with(&folded) || is_longer);
            // `cubik` is similar to `tcp/cubic`, because `cubic` abbreviates it.
            let last = other.rsplit('/').next().unwrap_or(&other);
            let near = [other.as_str(), last].map(|word| {
                let letters = folded.chars().count().min(word.chars().count());
                let distance = strsim::damerau_levenshtein(&folded, word);
                (distance <= (letters / 3).max(1)).then_some(distance)
            });
            let distance = near.into_iter().flatten().min();
            (if prefix { Some(distance.unwrap_or(1).min(1)) } else { distance }, candidate)
        })
        .filter_map(|(distance, candidate)| Some((distance?, candidate)))
        .filter(|(distance, _)| *distance < folded.chars().count().max(2))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `a, b or c`, each in backquotes.
pub(crate) fn list<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        None => "nothing".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_different_word_is_not() {
        let transports = ["udp", "tcp/reno", "tcp/vegas", "tcp/westwood"];
        assert_eq!(nearest("tcp/vages", transports), Some("tcp/vegas"));
        assert_eq!(nearest("upd", transports), Some("udp"));
        assert_eq!(nearest("quic", ["udp", "tcp/cubic", "tcp/reno"]), None);
        assert_eq!(nearest("http", ["rtcp", "host/tcp"]), None);
        assert_eq!(nearest("gcc", ["host/tcp", "tfrc"]), None);
        assert_eq!(nearest("cubik", ["udp", "tcp/cubic"]), Some("tcp/cubic"));
        assert_eq!(nearest("webrtc", ["web", "voice"]), None);
        assert_eq!(nearest("streaming", ["stream", "voice"]), Some("stream"));
        assert_eq!(nearest("window_interval", ["bin", "window-interval"]), Some("window-interval"));
    }
}
