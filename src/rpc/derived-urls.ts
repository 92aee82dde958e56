/** A URL that clients derive from the RPC URL that they are given. */
export interface DerivedUrl {
  readonly name: string
  readonly url: string
  /** Whether the service listens there only if configured. */
  readonly isOptional: boolean
}

const RPC_PATH = /\/v1\/rpc(\/ws)?\/?$/
const KEY_NAMES = ['key', 'api-key']

/** Returns the HTTP URL of an RPC URL, which may be that of a socket. */
export function httpUrlOf(rpcUrl: string): string {
  const url = new URL(rpcUrl)
  url.protocol = url.protocol.replace('ws', 'http')
  url.pathname = url.pathname.replace(RPC_PATH, '/v1/rpc')
  return url.href
}

/** Returns the URLs for requests and for sockets that clients derive from an RPC URL with a key in its query. */
export function derivedUrls(rpcUrl: string): {
  readonly requests: readonly DerivedUrl[]
  readonly sockets: readonly DerivedUrl[]
} {
  const base = new URL(httpUrlOf(rpcUrl))
  const variants = [
    { name: 'as given', url: base.href, isOptional: false },
    { name: 'with a slash before the query', url: withSlash(base), isOptional: false },
    ...withKeyNames(base)
  ]
  const sockets = variants.map(({ name, url }) => ({ name, url: socketUrl(url), isOptional: false }))
  // Clients add one to the port of an `http:` URL that names its port (web3.js, solana-py, the Solana CLI).
  if (base.port !== '' && base.protocol === 'http:') {
    const next = new URL(base)
    next.port = String(Number(base.port) + 1)
    sockets.push({ name: 'at the next port', url: socketUrl(next.href), isOptional: true })
  }
  return { requests: variants.slice(1), sockets }
}

function withSlash(base: URL): string {
  const url = new URL(base)
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url.href
}

function withKeyNames(base: URL): readonly DerivedUrl[] {
  const given = KEY_NAMES.find((name) => base.searchParams.has(name))
  if (given === undefined) return []
  return KEY_NAMES.filter((name) => name !== given).map((name) => {
    const url = new URL(base)
    url.searchParams.set(name, base.searchParams.get(given)!)
    url.searchParams.delete(given)
    return { name: `with the key as \`${name}\``, url: url.href, isOptional: false }
  })
}

const socketUrl = (url: string): string => url.replace(/^http/, 'ws')
