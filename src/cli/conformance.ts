import { once } from 'node:events'
import { WebSocket, type MessageEvent } from 'undici'
import {
  chainFacts,
  conformanceCases,
  subscriptionCases,
  type Ask,
  type ChainFacts
} from '../rpc/conformance-cases.ts'
import { compareEndpoints } from '../rpc/conformance.ts'
import { BadUsage, type Invocation } from './command.ts'
import { tableOf } from './table.ts'

/** Milliseconds for one answer. Chosen: a node may read a block from disk for some seconds. */
const ANSWER_MS = 15_000

/** An endpoint that is asked by HTTP or over one socket. */
export interface Endpoint {
  readonly ask: Ask
  readonly isSocket: boolean
  end(): void
}

/**
 * Compares an RPC URL with a node. Resolves with 1 if a client would notice a difference. `known` are facts of the chain in
 * place of those that are read from it.
 */
export async function conformance(
  {
    options,
    stdout,
    stderr
  }: Pick<
    Invocation<{ readonly against?: string | undefined; readonly node?: string | undefined }>,
    'options' | 'stdout' | 'stderr'
  >,
  known: Partial<ChainFacts> = {}
): Promise<number> {
  const { against, node } = options
  if (node !== undefined && isSocketUrl(node) && !isSocketUrl(against ?? ''))
    throw new BadUsage("--node is a socket, so --against must be the service's socket")
  const ours = await endpointOf('--against', against)
  const theirs = node === undefined ? null : await endpointOf('--node', node)
  try {
    // A node's socket has subscriptions only, so that facts come from ours.
    const read = await chainFacts(theirs?.isSocket === false ? theirs.ask : ours.ask)
    const facts = { ...read, ...known }
    const isOfSockets = theirs?.isSocket ?? ours.isSocket
    const cases = [
      ...(theirs?.isSocket === true ? [] : conformanceCases(facts)),
      ...(isOfSockets && ours.isSocket ? subscriptionCases(facts) : [])
    ]
    const rows = await compareEndpoints(cases, ours.ask, theirs?.ask ?? null, (each, mine, other) =>
      stdout(`${each.method} ${each.params}\n  service: ${mine}\n  node:    ${other}`)
    )
    for (const line of tableOf(
      ['method', 'asked', 'equal', 'by_design', 'different'],
      rows.map((row) => ({ ...row }))
    ))
      stdout(line)
    const differences = rows.reduce((sum, { different }) => sum + different, 0)
    stderr(`millrace: ${cases.length} requests, ${differences} differences that a client would notice`)
    return differences === 0 ? 0 : 1
  } finally {
    ours.end()
    theirs?.end()
  }
}

/** Opens an endpoint by its URL: `http:`, `https:`, `ws:` or `wss:`. */
export async function endpointOf(flag: string, url: string | undefined): Promise<Endpoint> {
  if (url === undefined || !URL.canParse(url)) throw new BadUsage(`${flag} needs a URL`)
  if (!isSocketUrl(url)) return { ask: askByPost(url), isSocket: false, end: () => undefined }
  const socket = new WebSocket(url)
  await once(socket, 'open').catch(() => {
    throw new Error(`${flag}: the socket does not open`)
  })
  return { ask: askBySocket(socket), isSocket: true, end: () => socket.close() }
}

const isSocketUrl = (url: string): boolean => /^wss?:/.test(url)

function askByPost(url: string): Ask {
  return async (body) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(ANSWER_MS)
    })
    return { body: parsed(await answer.text()) }
  }
}

/** Sends a message, and takes the next one that is no notification for its answer. */
function askBySocket(socket: WebSocket): Ask {
  return (body) =>
    new Promise((resolve, reject) => {
      const take = ({ data }: MessageEvent): void => {
        const answer = parsed(String(data))
        if ((answer as { method?: unknown } | null)?.method === undefined)
          settle(() => resolve({ body: answer }))
      }
      const lost = (): void => settle(() => reject(new Error('the socket was closed')))
      const late = (): void => settle(() => reject(new Error(`no answer within ${ANSWER_MS / 1_000} s`)))
      const timer = setTimeout(late, ANSWER_MS)
      const settle = (then: () => void): void => {
        clearTimeout(timer)
        socket.removeEventListener('message', take)
        socket.removeEventListener('close', lost)
        then()
      }
      socket.addEventListener('message', take)
      socket.addEventListener('close', lost)
      socket.send(body)
    })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
