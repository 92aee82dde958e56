/** Tells whether a text is an origin as browsers write it: `https://app.example.org`, without path, in lower case. */
export function isWebOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text
}
