//! Web browsing: a user requests a page, receives it, reads it, and requests the next.
//!
//! Sources:
//! - The current page (`page = "http-archive-2025"`, the default): *Web Almanac* of the HTTP Archive, edition of 2025,
//!   chapter *Page Weight* (desktop, crawl of 2025-07). The median page makes 77 requests (10th to 90th percentile: 27;
//!   46; 77; 122; 185) and has 2412 KiB (607; 1275; 2412; 4570; 9179). Its HTML has 21 to 22 KiB; 90 % of HTML
//!   responses are below 59 KiB. In the edition of 2024, chapter *HTTP*, 85 % of requests use HTTP/2 or HTTP/3, which
//!   multiplex them on one connection.
//! - The page of 2004 (`page = "3gpp2-2004"`): 3GPP2 C.R1002-0 v1.0 (2004), the HTTP model that IEEE 802.16m's
//!   evaluation methodology adopted. The main object is truncated lognormal (σ 1.37, μ 8.37, from 100 B to 2 MB).
//!   Embedded objects are truncated lognormal (σ 2.36, μ 6.17, from 50 B to 2 MB), their number is truncated Pareto (α
//!   1.1, from 2 to 55, less 2). The Recommendation states means of 10 710 B, 7758 B and 5.64; its distributions have
//!   11 054 B, 8190 B and 5.64. The mean page has 57 kB.
//! - Both: reading is exponential (mean 30 s), parsing is exponential (mean 130 ms), from the same Recommendation.
//!
//! **Assumptions.** HTTP Archive publishes percentiles, not distributions. The number of objects is lognormal (median
//! 76, σ 0.73), and so are their sizes (median 5 kB, σ 2) and the size of the HTML (median 22 kB, σ 0.8). The sizes of
//! objects are chosen so that pages have the published weights: their percentiles are 695; 1287; 2438; 4489; 7409 KiB.
//! Real pages vary slightly more, and some of their objects come from other servers, over further connections.
//!
//! The data goes from the sender to the receiver, who browses. All pages use the flow's connection, which stays open
//! (RFC 9113 has one connection per server). When the page has been parsed, the client requests all embedded objects
//! together, and they arrive one after the other. The transport decides how to continue after idling while the user
//! reads. A request is not a packet: the driver of the source delays it by the propagation delay of the reverse path,
//! without queueing. Users never give up.

use std::collections::VecDeque;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::size::{Size, Sizes, normal};
use super::{FrameType, Period, TrafficLaw, TrafficSource, TransferRequest, Unit, Volume};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Span};

/// A user who browses, with all defaults filled in.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", from = "WrittenWeb")]
pub struct WebConfig {
    #[serde(skip_serializing_if = "is_current")]
    page: Page,
    /// Size of the page without its objects.
    pub main: Size,
    /// Size of each embedded object.
    pub object: Size,
    /// Number of embedded objects.
    pub objects: Number,
    /// Time for reading a page, after it has arrived completely.
    pub reading: Period,
    /// Time for parsing a page before its objects are requested.
    pub parsing: Period,
    /// The user's activity when the flow begins.
    pub first: FirstPage,
}

/// A user who browses: requests a page, parses it, requests its embedded objects, reads, and requests the next page.
/// Fairwave measures the load time of a page, from the request until it has arrived completely. The default is a
/// current page (HTTP Archive): 2.4 MB in 77 requests at the median. Needs a transport that retransmits lost data.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct WrittenWeb {
    /// The page: a current one (HTTP Archive's desktop pages of 2025-07), or one of 2004 (3GPP2 C.R1002).
    page: Page,
    /// Size of the page without its objects.
    #[schemars(extend("x-defaults" = Page::defaults(Page::main)))]
    main: Option<Size>,
    /// Size of each embedded object.
    #[schemars(extend("x-defaults" = Page::defaults(Page::object)))]
    object: Option<Size>,
    /// Number of embedded objects.
    #[schemars(extend("x-defaults" = Page::defaults(Page::objects)))]
    objects: Option<Number>,
    /// Time for reading a page, after it has arrived completely. Default exponential, mean 30 s.
    reading: Period,
    /// Time for parsing a page before its objects are requested. Default exponential, mean 130 ms.
    parsing: Period,
    /// The user's activity when the flow begins.
    first: FirstPage,
}

impl Default for WrittenWeb {
    fn default() -> Self {
        WrittenWeb {
            page: Page::default(),
            main: None,
            object: None,
            objects: None,
            reading: Period::Exponential { mean: Span::from_secs(30) },
            parsing: Period::Exponential { mean: Span::from_millis(130) },
            first: FirstPage::default(),
        }
    }
}

impl From<WrittenWeb> for WebConfig {
    fn from(written: WrittenWeb) -> Self {
        let WrittenWeb { page, main, object, objects, reading, parsing, first } = written;
        WebConfig {
            page,
            main: main.unwrap_or_else(|| page.main()),
            object: object.unwrap_or_else(|| page.object()),
            objects: objects.unwrap_or_else(|| page.objects()),
            reading,
            parsing,
            first,
        }
    }
}

/// Source of a page's sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
enum Page {
    /// Desktop pages of 2025-07: HTTP Archive, *Web Almanac*, *Page Weight*.
    #[default]
    #[serde(rename = "http-archive-2025")]
    Current,
    /// 3GPP2 C.R1002-0 (2004): on average 57 kB in 6.6 requests.
    #[serde(rename = "3gpp2-2004")]
    Of2004,
}

fn is_current(page: &Page) -> bool {
    *page == Page::Current
}

fn lognormal(median: u64, sigma: f64, least: u64, most: u64) -> Size {
    let [median, least, most] = [median, least, most].map(Bytes::new);
    Size::Drawn(Sizes::Lognormal { median, sigma, least, most })
}

impl Page {
    fn main(self) -> Size {
        match self {
            Page::Current => lognormal(22_000, 0.8, 100, 2_000_000),
            Page::Of2004 => lognormal(4316, 1.37, 100, 2_000_000),
        }
    }

    fn object(self) -> Size {
        match self {
            Page::Current => lognormal(5000, 2.0, 1, 10_000_000),
            Page::Of2004 => lognormal(478, 2.36, 50, 2_000_000),
        }
    }

    fn objects(self) -> Number {
        match self {
            Page::Current => Number::Lognormal(Lognormal { median: 76, sigma: 0.73, most: 1000 }),
            Page::Of2004 => Number::Pareto(Pareto { shape: 1.1, least: 2, most: 55 }),
        }
    }

    /// Returns a value for each page by name, as used in schemas.
    fn defaults<T: Serialize>(of: impl Fn(Page) -> T) -> Map<String, Value> {
        let value = |page| serde_json::to_value(of(page)).unwrap_or_default();
        [("http-archive-2025", Page::Current), ("3gpp2-2004", Page::Of2004)]
            .map(|(name, page)| (name.to_owned(), value(page)))
            .into_iter()
            .collect()
    }
}

/// First activity of a user who browses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstPage {
    /// Continues to read, as at a random time of reading.
    #[default]
    Reads,
    /// Requests a page at once.
    Asks,
}

/// Number of objects of a page: fixed, lognormal or Pareto.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// Constant.
    Fixed(u32),
    /// Lognormal, like the requests of current pages.
    Lognormal(Lognormal),
    /// Pareto as in 3GPP2 C.R1002.
    Pareto(Pareto),
}

/// Lognormal, rounded; larger numbers than `most` count as `most`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lognormal {
    /// Median, 1 and above.
    pub median: u32,
    /// Standard deviation of the logarithm, from 0 to 10.
    pub sigma: f64,
    /// Largest number, above `median`, at most 10 000.
    pub most: u32,
}

/// Pareto from `least` on; larger numbers than `most` count as `most`, and `least` is subtracted, so 0 is possible.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pareto {
    /// Shape, above 0.
    pub shape: f64,
    /// Smallest number before the subtraction, 1 and above.
    pub least: u32,
    /// Largest number before the subtraction, above `least`, at most 10 000.
    pub most: u32,
}

/// Largest number of objects on a page.
const MOST_OBJECTS: u32 = 10_000;

impl JsonSchema for Number {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NumberOfObjects".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "A number, lognormal, or Pareto from `least` on, less `least`. What exceeds `most` counts as that.",
            "anyOf": [
                generator.subschema_for::<u32>(),
                generator.subschema_for::<Lognormal>(),
                generator.subschema_for::<Pareto>(),
            ],
        })
    }
}

impl Number {
    fn check(&self) -> Result<(), ConfigError> {
        match *self {
            Number::Fixed(number) if number > MOST_OBJECTS => {
                Err(ConfigError::new("objects", number, format!("from 0 to {MOST_OBJECTS}"), "objects = 70"))
            }
            Number::Fixed(_) => Ok(()),
            Number::Lognormal(Lognormal { median, sigma, most }) => {
                if !(0.0..=10.0).contains(&sigma) {
                    return Err(ConfigError::new("objects.sigma", sigma, "from 0 to 10", "sigma = 0.73"));
                }
                if median == 0 {
                    return Err(ConfigError::new("objects.median", median, "1 or more", "median = 76"));
                }
                if most <= median || most > MOST_OBJECTS {
                    let allowed = format!("above `median` ({median}), at most {MOST_OBJECTS}");
                    return Err(ConfigError::new("objects.most", most, allowed, "most = 1000"));
                }
                Ok(())
            }
            Number::Pareto(Pareto { shape, least, most }) => {
                check_between("objects.shape", shape, 0.0, 100.0, "shape = 1.1")?;
                if least == 0 {
                    return Err(ConfigError::new("objects.least", least, "1 or more", "least = 2"));
                }
                if most <= least || most > MOST_OBJECTS {
                    let allowed = format!("above `least` ({least}), at most {MOST_OBJECTS}");
                    return Err(ConfigError::new("objects.most", most, allowed, "most = 55"));
                }
                Ok(())
            }
        }
    }

    /// Returns the mean number; for a distribution, before rounding.
    fn mean(&self) -> f64 {
        match *self {
            Number::Fixed(number) => f64::from(number),
            Number::Lognormal(Lognormal { median, sigma, most }) => {
                let (median, most) = (f64::from(median), f64::from(most));
                if sigma == 0.0 {
                    return median;
                }
                let beyond = libm::log(most / median) / sigma;
                median * libm::exp(sigma * sigma / 2.0) * normal(beyond - sigma) + most * normal(-beyond)
            }
            Number::Pareto(Pareto { shape, least, most }) => {
                let (least, most) = (f64::from(least), f64::from(most));
                // The integral of P(X > x) = (least/x)^shape from `least` to `most`.
                let beyond = if (shape - 1.0).abs() < 1e-9 {
                    least * libm::log(most / least)
                } else {
                    least / (shape - 1.0) * (1.0 - libm::pow(least / most, shape - 1.0))
                };
                beyond.min(most - least)
            }
        }
    }

    fn draw(&self, stream: &mut Stream) -> u32 {
        match *self {
            Number::Fixed(number) => number,
            Number::Lognormal(Lognormal { median, sigma, most }) => {
                let drawn = f64::from(median) * libm::exp(sigma * stream.normal());
                libm::round(drawn.min(f64::from(most))) as u32
            }
            Number::Pareto(Pareto { shape, least, most }) => {
                let drawn = f64::from(least) * libm::pow(1.0 - stream.uniform(), -1.0 / shape);
                libm::round(drawn.min(f64::from(most)) - f64::from(least)) as u32
            }
        }
    }
}

impl Default for WebConfig {
    fn default() -> Self {
        WrittenWeb::default().into()
    }
}

impl Checked for WebConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.main.check("main")?;
        self.object.check("object")?;
        self.objects.check()?;
        self.reading.check().map_err(|error| error.nested_in("reading"))?;
        self.parsing.check().map_err(|error| error.nested_in("parsing"))
    }
}

impl Law for WebConfig {
    const NAME: &'static str = "web";
    const EXAMPLE: &'static str = r#"{"reading": {"distribution": "exponential", "mean": "5 s"}}"#;
    const BESIDE: &'static str = r#"{"transport": "tcp/sack"}"#;
}

impl TrafficLaw for WebConfig {
    type Source = Web;
    const TRANSFERS: bool = true;
    const LISTENS: bool = true;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<Web, ConfigError> {
        let wait = match self.first {
            FirstPage::Reads => self.reading.draw_residual(&mut stream),
            FirstPage::Asks => Span::ZERO,
        };
        let mut web = Web {
            config: self.clone(),
            stream,
            due: VecDeque::new(),
            next_id: 0,
            pages: Vec::new(),
            objects: Vec::new(),
            parsing: Span::ZERO,
            awaited: 0,
        };
        web.ask_for_page(start + wait);
        Ok(web)
    }

    fn volume(&self, lasts: f64) -> Option<Volume> {
        let each = self.reading.mean().seconds() + self.parsing.mean().seconds();
        let pages = 1.0 + lasts / each.max(1e-9);
        let objects = self.objects.mean();
        let payload = pages * (self.main.mean() + objects * self.object.mean());
        Some(Volume { units: pages * (1.0 + objects), payload })
    }
}

/// Source of a user who browses.
#[derive(Clone, PartialEq, Debug)]
pub struct Web {
    config: WebConfig,
    stream: Stream,
    /// Requested units that have not been passed to the transport.
    due: VecDeque<Unit>,
    next_id: u32,
    pages: Vec<TransferRequest>,
    /// Sizes of the page's objects, until they are requested.
    objects: Vec<u32>,
    /// Parsing time of the page.
    parsing: Span,
    /// Unit that must arrive before the user continues.
    awaited: u32,
}

impl Web {
    /// All random values of a page are drawn at its request, in a fixed order. So the network's effect on one page does
    /// not change the next.
    fn ask_for_page(&mut self, at: Instant) {
        let WebConfig { main, object, objects, parsing, .. } = &self.config;
        let stream = &mut self.stream;
        let size = main.draw(stream);
        self.parsing = parsing.draw(stream);
        self.objects = (0..objects.draw(stream)).map(|_| object.draw(stream)).collect();
        let whole = u64::from(size) + self.objects.iter().map(|size| u64::from(*size)).sum::<u64>();
        self.pages.push(TransferRequest {
            began: at,
            first: self.next_id,
            units: 1 + self.objects.len() as u32,
            size: whole,
        });
        self.ask_for(size, at);
    }

    fn ask_for(&mut self, payload: u32, at: Instant) {
        self.due.push_back(Unit { id: self.next_id, payload, created: at, layer: 0, frame_type: FrameType::None });
        self.awaited = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
    }
}

impl TrafficSource for Web {
    fn next_unit(&mut self) -> Option<Unit> {
        self.due.pop_front().filter(|unit| unit.created < Instant::NEVER)
    }

    fn on_received(&mut self, unit: u32, now: Instant) {
        if unit != self.awaited {
            return;
        }
        if self.objects.is_empty() {
            let reading = self.config.reading.draw(&mut self.stream);
            self.ask_for_page(now + reading);
            return;
        }
        let at = now + self.parsing;
        for size in std::mem::take(&mut self.objects) {
            self.ask_for(size, at);
        }
    }

    fn requests(&self) -> &[TransferRequest] {
        &self.pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn web(json: &str) -> Web {
        let config: WebConfig = serde_json::from_str(json).expect("a web");
        config.check().expect("sound");
        config.source(Instant::ZERO, Seed(1).stream("web")).expect("a source")
    }

    #[test]
    fn a_page_comes_before_its_objects_and_the_next_when_the_last_has_come_and_was_read() {
        let always = |time: &str| format!(r#"{{"distribution":"constant","mean":"{time}"}}"#);
        let mut web = web(&format!(
            r#"{{"main":"1 kB","object":"2 kB","objects":2,"first":"asks","reading":{},"parsing":{}}}"#,
            always("10 s"),
            always("100 ms")
        ));
        let at = Instant::from_seconds;
        let main = web.next_unit().expect("the page");
        assert_eq!((main.payload, main.created), (1000, Instant::ZERO));
        assert_eq!(web.next_unit(), None, "nothing more before it is there");
        web.on_received(0, at(0.5));
        let objects: Vec<_> = std::iter::from_fn(|| web.next_unit()).collect();
        assert_eq!(
            objects.iter().map(|unit| (unit.id, unit.created)).collect::<Vec<_>>(),
            [(1, at(0.6)), (2, at(0.6))]
        );
        web.on_received(1, at(0.8));
        assert_eq!(web.next_unit(), None);
        web.on_received(2, at(1.0));
        let next = web.next_unit().expect("the next page");
        assert_eq!((next.id, next.created), (3, at(11.0)));
        let pages: Vec<_> = web.requests().iter().map(|page| (page.began, page.first, page.units, page.size)).collect();
        assert_eq!(pages, [(at(0.0), 0, 3, 5000), (at(11.0), 3, 3, 5000)]);
    }

    /// Returns the pages and their numbers of objects, on a network with this delay per unit.
    fn pages(json: &str, number: usize, delay: f64) -> Vec<TransferRequest> {
        let mut web = web(json);
        let mut units = 0;
        while web.requests().len() <= number {
            let unit = web.next_unit().expect("a unit");
            web.on_received(unit.id, unit.created + Span::from_seconds(delay));
            units += 1;
            assert!(units < 1001 * (number + 1), "{units} units, and {} pages", web.requests().len());
        }
        web.requests()[..number].to_vec()
    }

    #[test]
    fn the_page_of_2004_has_the_means_that_3gpp2_states() {
        let old = r#"{"page":"3gpp2-2004"}"#;
        let config: WebConfig = serde_json::from_str(old).expect("a web");
        // The stated means differ slightly from those of the stated parameters.
        assert!((config.main.mean() / 10_710.0 - 1.0).abs() < 0.04, "{}", config.main.mean());
        assert!((config.object.mean() / 7758.0 - 1.0).abs() < 0.06, "{}", config.object.mean());
        assert!((config.objects.mean() - 5.64).abs() < 0.01, "{}", config.objects.mean());
        let exponential = |millis| Period::Exponential { mean: Span::from_millis(millis) };
        assert_eq!((config.reading, config.parsing), (exponential(30_000), exponential(130)));
        let pages = pages(old, 20_000, 0.0);
        let objects = pages.iter().map(|page| f64::from(page.units - 1)).sum::<f64>() / pages.len() as f64;
        assert!((objects - 5.64).abs() < 0.2, "{objects}");
    }

    #[test]
    fn current_pages_have_the_requests_and_weights_that_http_archive_states() {
        let pages = pages("{}", 4000, 0.0);
        let percentiles = |of: &dyn Fn(&TransferRequest) -> f64| {
            let mut values: Vec<f64> = pages.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            [10, 25, 50, 75, 90].map(|percent| values[values.len() * percent / 100])
        };
        let requests = percentiles(&|page| f64::from(page.units));
        for (found, stated) in requests.into_iter().zip([27.0, 46.0, 77.0, 122.0, 185.0]) {
            assert!((found / stated - 1.0).abs() < 0.15, "{requests:?}");
        }
        let weights = percentiles(&|page| page.size as f64 / 1024.0);
        for (found, stated) in weights.into_iter().zip([607.0, 1275.0, 2412.0, 4570.0, 9179.0]) {
            assert!((found / stated - 1.0).abs() < 0.25, "{weights:?}");
        }
        assert!((weights[2] / 2412.0 - 1.0).abs() < 0.08, "the median page: {}", weights[2]);
        let config = WebConfig::default();
        let drawn = pages.iter().map(|page| f64::from(page.units - 1)).sum::<f64>() / pages.len() as f64;
        assert!((config.objects.mean() / drawn - 1.0).abs() < 0.05, "{drawn}");
    }

    #[test]
    fn a_key_replaces_what_the_page_has_and_the_page_is_written_only_when_it_is_an_old_one() {
        let read = |json: &str| serde_json::from_str::<WebConfig>(json).expect("a web");
        let changed = read(r#"{"page":"3gpp2-2004","objects":3}"#);
        assert_eq!((changed.objects, changed.main), (Number::Fixed(3), Page::Of2004.main()));
        for json in ["{}", r#"{"page":"3gpp2-2004"}"#, r#"{"objects":{"median":20,"sigma":0.5,"most":90}}"#] {
            let config = read(json);
            let written = serde_json::to_value(&config).expect("JSON");
            assert_eq!(written.get("page").is_some(), json.contains("page"), "{written}");
            assert_eq!(read(&written.to_string()), config);
        }
    }

    #[test]
    fn pages_do_not_depend_on_the_network() {
        let what = |delay| pages("{}", 200, delay).iter().map(|page| (page.units, page.size)).collect::<Vec<_>>();
        assert_eq!(what(0.0), what(7.0));
    }

    #[test]
    fn a_web_that_makes_no_sense_is_refused_by_its_key() {
        for (json, key) in [
            (r#"{"main":"0 B"}"#, "main"),
            (r#"{"object":{"distribution":"list","sizes":[]}}"#, "object.sizes"),
            (r#"{"objects":10001}"#, "objects"),
            (r#"{"objects":{"median":0,"sigma":1.0,"most":55}}"#, "objects.median"),
            (r#"{"objects":{"median":9,"sigma":-1.0,"most":55}}"#, "objects.sigma"),
            (r#"{"objects":{"median":9,"sigma":1.0,"most":9}}"#, "objects.most"),
            (r#"{"objects":{"shape":1.1,"least":0,"most":55}}"#, "objects.least"),
            (r#"{"objects":{"shape":1.1,"least":5,"most":5}}"#, "objects.most"),
            (r#"{"reading":{"distribution":"exponential","mean":"0 s"}}"#, "reading.mean"),
        ] {
            let config: WebConfig = serde_json::from_str(json).expect("a web");
            assert_eq!(config.check().expect_err(json).key, key);
        }
    }
}
