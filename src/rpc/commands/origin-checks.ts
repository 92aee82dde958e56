import { checkOf, notChecked, type ConformanceCheck } from '../conformance-check.ts'
import { httpUrlOf } from '../derived-urls.ts'
import { socketFault } from './derived-checks.ts'
import type { ProbeReply, Send } from './rpc-probe.ts'

/** An origin that no key lists. The top-level domain is reserved for tests. */
const UNLISTED = 'https://unlisted.millrace.invalid'
/** Header fields that web3.js and kit send from a page. */
const SENT_FIELDS = ['content-type', 'solana-client']
const VERSION = '{"jsonrpc":"2.0","id":1,"method":"getVersion","params":[]}'
const TITLE = 'page of'

/**
 * Checks the responses to a page or a browser extension: the preflight, an answer, refusals that it may read, and a
 * socket. `origin` is one that the key lists; if it is not given, only a page of an unlisted origin is checked.
 */
export async function originChecks(
  rpcUrl: string,
  origin: string | undefined,
  send: Send,
  faultOfSocket: typeof socketFault = socketFault
): Promise<readonly ConformanceCheck[]> {
  const url = httpUrlOf(rpcUrl)
  const preflight = (from: string): Promise<ProbeReply> =>
    send({
      url,
      method: 'OPTIONS',
      headers: {
        origin: from,
        'access-control-request-method': 'POST',
        'access-control-request-headers': SENT_FIELDS.join(', ')
      }
    })
  const checks = [await unlistedCheck(url, preflight, send)]
  if (origin === undefined)
    return [...checks, notChecked('page of a listed origin', 'name an origin that the key lists (--origin)')]
  const admits = ({ headers }: ProbeReply): boolean =>
    ['*', origin].includes(String(headers['access-control-allow-origin']))
  const check = async (name: string, faultOf: () => Promise<string | null>, shown: string): Promise<void> => {
    const fault = await faultOf().catch((error: Error) => error.message)
    checks.push(checkOf(`${TITLE} ${origin}: ${name}`, fault, shown))
  }
  await check('preflight', async () => preflightFault(await preflight(origin), admits), 'admitted')
  const answered = (each: string, status: number, request: Parameters<Send>[0]) =>
    check(
      each,
      async () => {
        const reply = await send({ ...request, headers: { ...request.headers, origin } })
        if (reply.status !== status) return `HTTP ${reply.status} instead of ${status}: ${shown(reply)}`
        return admits(reply) ? null : 'the page may not read it (no access-control-allow-origin)'
      },
      `HTTP ${status}, and the page may read it`
    )
  await answered('request', 200, { url, body: VERSION })
  await answered('wrong key', 401, { url: withKey(url, 'no-such-key'), body: VERSION })
  await answered('rejected method', 403, {
    url,
    body: '{"jsonrpc":"2.0","id":1,"method":"getSupply","params":[]}'
  })
  await answered('wrong path', 404, { url: url.replace('/v1/rpc', '/v1/no-such-path'), body: VERSION })
  await answered('GET', 405, { url, method: 'GET' })
  await answered('body too large', 413, { url, body: `"${'x'.repeat(262_144)}"` })
  await check('socket', () => faultOfSocket(url.replace(/^http/, 'ws'), origin), 'opened')
  checks.push(notChecked(`${TITLE} ${origin}: 429`, 'it would use up the quota of the key'))
  return checks
}

async function unlistedCheck(
  url: string,
  preflight: (origin: string) => Promise<ProbeReply>,
  send: Send
): Promise<ConformanceCheck> {
  const check = 'page of an unlisted origin'
  try {
    const asked = await preflight(UNLISTED)
    if (asked.headers['access-control-allow-origin'] !== undefined && asked.status < 300)
      return checkOf(check, null, 'admitted: a key lists every origin')
    const reply = await send({ url, headers: { origin: UNLISTED }, body: VERSION })
    for (const each of [asked, reply]) {
      if (each.status !== 403) return checkOf(check, `HTTP ${each.status} instead of 403: ${shown(each)}`, '')
      if (!shown(each).includes('origin')) return checkOf(check, `the remedy is missing: ${shown(each)}`, '')
    }
    return checkOf(check, null, 'refused, and the text names the remedy')
  } catch (error) {
    return checkOf(check, (error as Error).message, '')
  }
}

function preflightFault(reply: ProbeReply, admits: (reply: ProbeReply) => boolean): string | null {
  const { status, headers } = reply
  if (status !== 204 && status !== 200) return `HTTP ${status}: ${shown(reply)}`
  if (!admits(reply)) return 'the origin is not admitted (access-control-allow-origin)'
  if (!/\bPOST\b/.test(String(headers['access-control-allow-methods']))) return 'POST is not admitted'
  const fields = String(headers['access-control-allow-headers']).toLowerCase()
  const missing = SENT_FIELDS.filter((name) => !fields.includes(name))
  return missing.length === 0 ? null : `header fields are not admitted: ${missing.join(', ')}`
}

function withKey(url: string, key: string): string {
  const changed = new URL(url)
  for (const name of ['key', 'api-key']) changed.searchParams.delete(name)
  changed.searchParams.set('api-key', key)
  return changed.href
}

const shown = ({ body }: ProbeReply): string =>
  (typeof body === 'string' ? body : JSON.stringify(body)).slice(0, 300)
