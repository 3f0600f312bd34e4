// A scenario in the hash of a link: `#s=` and its TOML, deflated, in URL-safe base64. The hash is untrusted text: it is checked, and
// never becomes markup or code.

const MOST_BYTES = 2_000_000;

class LengthError extends Error {}

async function through(bytes: Uint8Array<ArrayBuffer>, stream: ReadableWritablePair): Promise<Uint8Array<ArrayBuffer>> {
  const reader = (new Blob([bytes]).stream().pipeThrough(stream) as ReadableStream<Uint8Array>).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST_BYTES) {
      await reader.cancel();
      throw new LengthError(`it is longer than ${MOST_BYTES} bytes`);
    }
    parts.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export async function toHash(text: string): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return `#s=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The scenario in a hash; undefined for a hash without one. Throws if it cannot be read. */
export async function fromHash(hash: string): Promise<string | undefined> {
  if (!hash.startsWith("#s=")) return undefined;
  const written = hash.slice(3);
  if (written.length > MOST_BYTES || !/^[A-Za-z0-9_-]*$/.test(written)) throw new Error("this link holds no scenario");
  try {
    const binary = atob(written.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const text = await through(bytes, new DecompressionStream("deflate-raw"));
    return new TextDecoder("utf-8", { fatal: true }).decode(text);
  } catch (error) {
    const why = error instanceof LengthError ? `: ${error.message}` : "";
    throw new Error(`the scenario in this link cannot be read${why}`);
  }
}
