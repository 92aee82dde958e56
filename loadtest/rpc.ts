/**
 * Measures JSON-RPC over HTTP against nginx (`proxy_pass`, persistent connections) in front of the same node, in alternate
 * rounds of one run. The node is a process that costs little itself (`rpc/upstream.ts`).
 *
 * *Without cache*: each read is of another account, so that each goes to the node. *Kept*: reads of twenty accounts, which are
 * joined and kept until the next slot. *Added*: milliseconds above those of the node itself, for one client at a time. *Block*:
 * bytes a second of 10 MB getBlock answers. *Batch*: elements a second in batches of 100, against single reads.
 *
 *     node loadtest/rpc.ts [rounds] [seconds]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeBase58 } from '../src/chain/base58.ts'
import { startMeasured } from './measured-process.ts'
import { writeResult } from './result.ts'
import { closedLoop, type Bodies } from './rpc/closed-loop.ts'
import { startNginx } from './rpc/nginx.ts'
import { readBlocks } from './rpc/long-answers.ts'
import { median } from './series.ts'

const [roundsText = '3', secondsText = '4'] = process.argv.slice(2)
const rounds = Number(roundsText)
const seconds = Number(secondsText)
const BLOCK_BYTES = 10_000_000
const CONNECTIONS = 32
const BLOCK_CONNECTIONS = 2
const HOT_ACCOUNTS = 20
const BATCH = 100
const KEY = 'an-admin-key-of-the-load-test'

let drawn = 0
const account = (n: number): string => {
  const key = Buffer.alloc(32, 7)
  key.writeUInt32LE(n, 0)
  return encodeBase58(key)
}
const ACCOUNTS = Array.from({ length: 20_000 }, (_, n) => account(n))
const readOf = (id: number, key: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"getBalance","params":["${key}"]}`
const distinct: Bodies = () => readOf(1, ACCOUNTS[drawn++ % ACCOUNTS.length]!)
const hot: Bodies = () => readOf(1, ACCOUNTS[drawn++ % HOT_ACCOUNTS]!)
const batch: Bodies = () =>
  `[${Array.from({ length: BATCH }, (_, id) => readOf(id, ACCOUNTS[drawn++ % ACCOUNTS.length]!)).join(',')}]`

const scratch = mkdtempSync(join(tmpdir(), 'millrace-rpc-'))
const node = await startMeasured('rpc/upstream.ts', [String(BLOCK_BYTES)])
const service = await startMeasured(
  '../src/main.ts',
  [
    ...['serve', '--source', 'recorded', '--recorded-dir', scratch, '--data-dir', join(scratch, 'data')],
    ...['--port', '0', '--rpc-url', node.url, '--rate-limit-per-minute', '1000000000', '--log-level', 'warn']
  ],
  {
    env: { MILLRACE_ADMIN_KEY: KEY },
    nodeArgs: process.env.PROFILE_DIR ? ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE_DIR}`] : []
  }
)
const nginx = await startNginx(node.url)
const ours = `${service.url}/v1/rpc?api-key=${KEY}`
const theirs = `${nginx.url}/`

interface Figures {
  readonly perSecond: number[]
  readonly p50Ms: number[]
  readonly cpuMicros: number[]
}

const figures = new Map<string, Figures>()

async function round(
  name: string,
  url: string,
  bodies: Bodies,
  cpuMs: () => number,
  load = { connections: CONNECTIONS, seconds }
): Promise<void> {
  const before = cpuMs()
  const { perSecond, p50Ms, requests } = await closedLoop(url, bodies, load)
  const of = figures.get(name) ?? { perSecond: [], p50Ms: [], cpuMicros: [] }
  figures.set(name, of)
  of.perSecond.push(perSecond)
  of.p50Ms.push(p50Ms)
  of.cpuMicros.push(((cpuMs() - before) * 1_000) / requests)
}

const oursCpu = (): number => service.threadsCpuMs()
const nginxCpu = (): number => nginx.cpuMs()
const blocks = { ours: [] as number[], nginx: [] as number[], rss: [] as number[] }
try {
  for (let n = -1; n < rounds; n++) {
    await round('nginx', theirs, distinct, nginxCpu)
    await round('without cache', ours, distinct, oursCpu)
    await round('kept', ours, hot, oursCpu)
    await round('batches', ours, batch, oursCpu, { connections: 4, seconds })
    const alone = { connections: 1, seconds: seconds / 2 }
    await round('node alone', node.url, distinct, () => node.threadsCpuMs(), alone)
    await round('nginx alone', theirs, distinct, nginxCpu, alone)
    await round('ours alone', ours, distinct, oursCpu, alone)
    const times = { connections: BLOCK_CONNECTIONS, seconds: seconds * 2 }
    blocks.nginx.push(await readBlocks(theirs, BLOCK_BYTES, times))
    blocks.ours.push(await readBlocks(ours, BLOCK_BYTES, times))
    blocks.rss.push(service.rssMib())
    if (n >= 0) continue
    // The first round compiles.
    figures.clear()
    blocks.nginx.length = blocks.ours.length = 0
  }
  const of = (name: string) => figures.get(name)!
  const perSecond = (name: string): number => median(of(name).perSecond)
  const ratios = {
    without_cache: perSecond('without cache') / perSecond('nginx'),
    kept: perSecond('kept') / perSecond('nginx'),
    added_p50_ms: median(of('ours alone').p50Ms) - median(of('node alone').p50Ms),
    block_bytes: median(blocks.ours) / median(blocks.nginx),
    batch_elements: (perSecond('batches') * BATCH) / perSecond('without cache')
  }
  await writeResult('rpc', {
    connections: CONNECTIONS,
    seconds_a_round: seconds,
    requests: Object.fromEntries(figures),
    block: { bytes: BLOCK_BYTES, connections: BLOCK_CONNECTIONS, megabytes_a_second: blocks },
    ratios,
    bars: { without_cache: 0.5, kept: 1, added_p50_ms: 1, block_bytes: 0.8, batch_elements: 5 }
  })
} finally {
  await nginx.end()
  await service.end()
  await node.end()
  rmSync(scratch, { recursive: true, force: true })
}
