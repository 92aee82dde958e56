import { hostsText, readHostsUrl, type HostsUrl } from './hosts-url.ts'

/** Replaces a component of a URL, or another setting, that may be a secret. */
const MASK = '********'

/**
 * Length from which other components of a server's URL are masked in the texts of that server. Shorter ones are not: `v1`
 * or `rpc` is not secret, and masking it would hide half of a message.
 */
export const PART_LENGTH_MIN = 6

/** Length from which a password is masked outside its URL. A shorter password may be a common word. */
const PASSWORD_LENGTH_MIN = 8

/** Returns a URL with its user, path, query and fragment masked, if present. */
export function maskedUrl(text: string): string {
  const read = readUrl(text)
  const { protocol, username, password, pathname, search, hash } = read.url
  const user = username === '' && password === '' ? '' : `${MASK}@`
  const path = pathname === '' || pathname === '/' ? pathname : `/${MASK}`
  return `${protocol}//${user}${hostsText(read)}${path}${search === '' ? '' : `?${MASK}`}${hash === '' ? '' : `#${MASK}`}`
}

/**
 * Returns a function that masks secrets in a text. Masks `urls` as in `millrace config`, their host with user or path, and
 * their passwords. Masks every other component of at least `partLengthMin` characters, and `words` exactly as given. Texts
 * in JSON are masked too. Throws TypeError if a URL cannot be parsed.
 */
export function secretsMask(
  urls: readonly string[],
  { partLengthMin, words = [] }: { readonly partLengthMin: number; readonly words?: readonly string[] }
): (text: string) => string {
  const masks = new Map<string, string>()
  const add = (secret: string, mask: string, lengthMin = 1): void => {
    if (secret.length < lengthMin || secret === mask) return
    masks.set(secret, mask)
    masks.set(JSON.stringify(secret).slice(1, -1), mask)
  }
  for (const text of urls) {
    const read = readUrl(text)
    const { href, username, password, pathname, search, searchParams, hash } = read.url
    const host = hostsText(read)
    const path = pathname === '/' ? '' : pathname
    for (const whole of [text, href]) add(whole, maskedUrl(text))
    if (path + search !== '') add(host + pathname + search, `${host}/${MASK}`)
    if (username + password !== '') add(`${username}:${password}@`, `${MASK}@`)
    const parts = [
      path + search,
      path,
      search,
      hash.slice(1),
      username,
      decoded(username),
      ...path.split('/'),
      ...searchParams.values()
    ]
    for (const part of parts) add(part, MASK, partLengthMin)
    for (const part of [password, decoded(password)])
      add(part, MASK, Math.min(partLengthMin, PASSWORD_LENGTH_MIN))
  }
  for (const word of words) add(word, MASK)
  if (masks.size === 0) return (text) => text
  // Longest first: a URL is masked as a whole before its components.
  const patterns = [...masks.keys()].sort((a, b) => b.length - a.length).map((each) => RegExp.escape(each))
  const pattern = new RegExp(patterns.join('|'), 'g')
  return (text) => text.replace(pattern, (secret) => masks.get(secret)!)
}

function readUrl(text: string): HostsUrl {
  const read = readHostsUrl(text)
  if (read === null) throw new TypeError('a setting is not a URL')
  return read
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
