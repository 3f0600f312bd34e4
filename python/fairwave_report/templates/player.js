// A player for several recordings of the same call. Switching keeps the position in the speech.
// The page contains the sound (data URIs, decoded here). Nothing is fetched, so a page from a disk plays too.
for (const section of document.querySelectorAll(".listen")) (() => {
  "use strict";
  const FADE = 0.008; // seconds; both recordings fade across each other, so that the change does not click
  const player = section.querySelector(".player");
  const clips = [...section.querySelectorAll(".clip")].map((item) => ({
    item,
    title: item.querySelector(".clip-title").textContent,
    audio: item.querySelector("audio"),
    places: JSON.parse(item.dataset.places),
    buffer: null,
  }));
  if (!player || !clips.length || !window.AudioContext) return;

  const play = player.querySelector(".play");
  const choices = [...player.querySelectorAll("input[type=radio]")];
  const place = player.querySelector(".place");
  const clock = player.querySelector(".clock");
  const status = player.querySelector(".status");
  const blind = player.querySelector(".blind input");
  let order = clips.map((_, at) => at); // which recording each choice stands for
  let context = null;
  let current = 0; // number of the choice
  let said = 0; // seconds of the original at which it stands still, or began to play
  let sounding = null; // { source, gain, from (seconds of the recording), since (of the context) }

  // Interpolates linearly between the points of a table from column `from` to column `to`. Identity without points.
  const along = (places, from, to, value) => {
    if (!places.length) return value;
    const last = places.length - 1;
    if (value <= places[0][from]) return Math.max(0, places[0][to] + value - places[0][from]);
    if (value >= places[last][from]) return places[last][to] + value - places[last][from];
    let at = 0;
    while (places[at + 1][from] < value) at += 1;
    const [a, b] = [places[at], places[at + 1]];
    return a[to] + ((value - a[from]) / (b[from] - a[from])) * (b[to] - a[to]);
  };
  const toRecording = (clip, seconds) => along(clip.places, 0, 1, seconds);
  const toOriginal = (clip, seconds) => along(clip.places, 1, 0, seconds);
  const chosen = () => clips[order[current]];
  const name = (at) => (blind && blind.checked ? String.fromCharCode(65 + at) : clips[order[at]].title);

  const bytes = (uri) => {
    const text = atob(uri.slice(uri.indexOf(",") + 1));
    return Uint8Array.from(text, (letter) => letter.charCodeAt(0)).buffer;
  };
  const ready = async () => {
    context ??= new AudioContext();
    if (context.state === "suspended") await context.resume();
    await Promise.all(clips.map(async (clip) => {
      clip.buffer ??= await context.decodeAudioData(bytes(clip.audio.src));
    }));
    place.max = toOriginal(clips[0], clips[0].buffer.duration).toFixed(2);
  };

  // The original's position at a time of the context's clock.
  const now = (at = context ? context.currentTime : 0) => {
    if (!sounding) return said;
    return toOriginal(sounding.clip, sounding.from + Math.max(0, at - sounding.since));
  };
  const stop = (at) => {
    if (!sounding) return;
    const { source, gain } = sounding;
    source.onended = null;
    gain.gain.setValueAtTime(1, at);
    gain.gain.linearRampToValueAtTime(0, at + FADE);
    source.stop(at + FADE);
    sounding = null;
  };
  const start = (at, seconds) => {
    const clip = chosen();
    const from = Math.min(Math.max(0, toRecording(clip, seconds)), clip.buffer.duration);
    const source = new AudioBufferSourceNode(context, { buffer: clip.buffer });
    const gain = new GainNode(context, { gain: 0 });
    gain.gain.setValueAtTime(0, at);
    gain.gain.linearRampToValueAtTime(1, at + FADE);
    source.connect(gain).connect(context.destination);
    source.start(at, from);
    source.onended = () => { sounding = null; said = 0; show(); };
    sounding = { source, gain, clip, from, since: at };
    said = seconds;
  };
  const soon = () => context.currentTime + 0.01;

  const pause = () => {
    const at = context.currentTime;
    said = now(at);
    stop(at);
    show();
  };
  const go = async () => {
    await ready();
    if (sounding) return;
    for (const clip of clips) clip.audio.pause();
    document.dispatchEvent(new CustomEvent("fairwave-play", { detail: player }));
    if (said >= Number(place.max)) said = 0;
    start(soon(), said);
    show();
  };
  const choose = (next) => {
    if (next === current || !clips[next]) return;
    const at = sounding ? soon() : 0;
    const seconds = now(at);
    const running = Boolean(sounding);
    if (running) stop(at);
    current = next;
    choices[next].checked = true;
    said = seconds;
    if (running) start(at, seconds);
    show();
  };
  const seek = (seconds) => {
    if (!sounding) { said = seconds; show(); return; }
    const at = soon();
    stop(at);
    start(at, seconds);
    show();
  };

  const tell = () => {
    const seconds = Math.min(now(), Number(place.max) || Infinity);
    clock.textContent = `${seconds.toFixed(1)} s`;
    place.setAttribute("aria-valuetext", `${seconds.toFixed(0)} seconds`);
    if (document.activeElement !== place || sounding) place.value = seconds;
    player.dataset.said = seconds.toFixed(4);
  };
  const show = () => {
    const running = Boolean(sounding);
    play.textContent = running ? "❚❚" : "▶";
    play.setAttribute("aria-label", running ? "Pause" : "Play");
    player.dataset.playing = running;
    player.dataset.heard = current;
    status.textContent = `${running ? "Playing" : "Ready:"} ${name(current)}`;
    clips.forEach((clip) => clip.item.classList.toggle("sounding", running && clip === chosen() && !(blind && blind.checked)));
    choices.forEach((choice, at) => { choice.parentElement.querySelector(".title").textContent = name(at); });
    tell();
    if (running) requestAnimationFrame(follow);
  };
  let following = false;
  const follow = () => {
    if (following) return;
    following = true;
    const step = () => {
      tell();
      following = Boolean(sounding);
      if (sounding) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  };

  play.addEventListener("click", () => (sounding ? pause() : go()));
  // Only one player of a page plays at a time.
  document.addEventListener("fairwave-play", (event) => { if (event.detail !== player && sounding) pause(); });
  choices.forEach((choice, at) => choice.addEventListener("change", () => choose(at)));
  place.addEventListener("input", () => seek(Number(place.value)));
  player.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const digit = "123456789".indexOf(event.key);
    if (digit >= 0 && digit < clips.length) {
      event.preventDefault();
      choose(digit);
      choices[digit].focus();
    }
  });
  if (blind) blind.addEventListener("change", () => {
    if (sounding) pause();
    order = clips.map((_, at) => at);
    for (let at = order.length - 1; blind.checked && at > 0; at -= 1) {
      const other = Math.floor(Math.random() * (at + 1));
      [order[at], order[other]] = [order[other], order[at]];
    }
    show();
  });
  for (const clip of clips) {
    clip.audio.addEventListener("play", () => { if (sounding) pause(); });
    const save = document.createElement("a");
    save.href = clip.audio.src;
    save.download = `${clip.title}.${/audio\/(\w+)/.exec(clip.audio.src)[1]}`;
    save.textContent = "Save";
    save.setAttribute("aria-label", `Save ${clip.title}`);
    clip.item.append(save);
  }
  // Until the sound is decoded, the table of positions determines the length.
  place.max = Math.max(1, ...clips.flatMap((clip) => clip.places.map((one) => one[0])));
  player.hidden = false;
  show();
})();
