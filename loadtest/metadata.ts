/**
 * Measures GET /v1/metadata of 100 mints.
 *
 * *Cold*: mints that were never requested, compared with one bare getMultipleAccounts of these 100 addresses that the client
 * sends to the node. Both alternate, once with a node that answers at once, and once with one that takes 10 ms for each
 * answer. *Warm*: one URL that is requested repeatedly, compared with a bare Fastify route that sends its bytes. Node,
 * service and client have a process each. Takes a minute and a half:
 *
 *     node loadtest/metadata.ts [--small] [--help]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import { Pool } from '../src/node/undici.ts'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { BATCH, BATCHES, mintOf } from './metadata-mints.ts'
import { writeResult } from './result.ts'
import { runAgainstBare } from './rounds.ts'
import { HEADERS } from './served-market.ts'

const HELP = `Usage: node loadtest/metadata.ts [--small]

  --small   20 batches and one second a round, printed and not saved
`
/** Maximum time as a multiple of the bare call's, and minimum share of the bare route's requests a second. */
const BARS = { cold: 1.5, warm: 0.6 }
const WAITS_MS = [0, 10]
/** Batches that are requested before the counted ones: the counted mints are then cold, and code is compiled. */
const UNCOUNTED = 200
/** Uncounted batches of a small run. */
const UNCOUNTED_SMALL = 10
/** Pause between batches in milliseconds: the service sends a node 100 requests a second at most. */
const PAUSE_MS = 40

const { values } = parseArgs({ options: { small: { type: 'boolean' }, help: { type: 'boolean' } } })
if (values.help === true) process.stdout.write(HELP)
else await measureAll(values.small === true)

async function measureAll(isSmall: boolean): Promise<void> {
  const cold: Record<string, Awaited<ReturnType<typeof measureCold>>> = {}
  let warm: Awaited<ReturnType<typeof runAgainstBare>> | null = null
  for (const waitMs of WAITS_MS) {
    const node = await startMeasured('metadata-node.ts', [String(waitMs)])
    const directory = mkdtempSync(join(tmpdir(), 'millrace-metadata-'))
    const service = await startMeasured('metadata-service.ts', [directory, node.url])
    try {
      cold[`node_answers_in_${waitMs}_ms`] = await measureCold(service, node, isSmall)
      if (waitMs > 0) continue
      const paths = [pathOf(addressesOf(0))]
      warm = await runAgainstBare(service, { paths, seconds: isSmall ? 1 : 5, justStarted: false })
    } finally {
      await service.end()
      await node.end()
      rmSync(directory, { recursive: true })
    }
  }
  const reached = warm!.ratio >= BARS.warm && Object.values(cold).every(({ p50 }) => p50.ratio <= BARS.cold)
  const figures = { reached, bars: BARS, load_of_the_machine: loadavg()[0], mints: BATCH, cold, warm }
  if (isSmall) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
  else await writeResult('metadata', figures)
  if (!reached) process.exitCode = 1
}

function addressesOf(batch: number): string[] {
  return Array.from({ length: BATCH }, (_, n) => pubkeyToBase58(mintOf(batch * BATCH + n)))
}

function pathOf(addresses: readonly string[]): string {
  return `/v1/metadata?mints=${addresses.join(',')}`
}

async function measureCold(service: MeasuredProcess, node: MeasuredProcess, isSmall: boolean) {
  const [batches, uncounted] = isSmall ? [20, UNCOUNTED_SMALL] : [BATCHES, UNCOUNTED]
  const pools = { service: new Pool(service.url), node: new Pool(node.url) }
  const times = { bare: [] as number[], ours: [] as number[] }
  let calls = 0
  let cpuBefore = 0
  try {
    for (let batch = 0; batch < batches; batch++) {
      if (batch === uncounted) cpuBefore = service.threadsCpuMs()
      const addresses = addressesOf(batch)
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: batch,
        method: 'getMultipleAccounts',
        params: [addresses, { encoding: 'base64', commitment: 'confirmed' }]
      })
      const headers = { 'content-type': 'application/json' }
      const bare = await timed(async () => {
        const { value } = (await parsed(pools.node, { method: 'POST', path: '/', headers, body })).result!
        return value.length
      })
      const before = (await node.ask('calls')) as number
      const ours = await timed(async () => {
        const path = pathOf(addresses)
        return (await parsed(pools.service, { method: 'GET', path, headers: HEADERS })).data!.length
      })
      calls += ((await node.ask('calls')) as number) - before
      if (batch >= uncounted) {
        times.bare.push(bare)
        times.ours.push(ours)
      }
      await sleep(PAUSE_MS)
    }
  } finally {
    await pools.service.close()
    await pools.node.close()
  }
  const [bare, ours] = [times.bare, times.ours].map((list) => list.sort((a, b) => a - b))
  const at = (share: number) => {
    const [call, request] = [bare!, ours!].map((list) => list[Math.floor(list.length * share)]!)
    return { bare_call_ms: call!, request_ms: request!, ratio: request! / call! }
  }
  return {
    batches: bare!.length,
    calls_a_request: calls / batches,
    cpu_ms_a_request: (service.threadsCpuMs() - cpuBefore) / bare!.length,
    p50: at(0.5),
    p99: at(0.99)
  }
}

interface Answer {
  readonly result?: { readonly value: readonly unknown[] }
  readonly data?: readonly unknown[]
}

async function parsed(pool: Pool, request: Parameters<Pool['request']>[0]): Promise<Answer> {
  const { statusCode, body } = await pool.request(request)
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`${request.path.slice(0, 50)} returned ${statusCode}: ${text}`)
  return JSON.parse(text) as Answer
}

/** Returns the milliseconds that a request for all mints takes. */
async function timed(request: () => Promise<number>): Promise<number> {
  const start = performance.now()
  const count = await request()
  if (count !== BATCH) throw new Error(`${count} mints came back`)
  return performance.now() - start
}
