/**
 * Measures JSON-RPC over HTTP against nginx (`proxy_pass`, persistent connections) in front of one node, in alternate rounds
 * of one run. The node is Agave's test validator, then a process that only answers (`rpc/upstream.ts`), which also serves
 * the blocks. The client, the node and the proxy share the CPU.
 *
 * *Without cache*: each read is of another account, so each goes to the node. *Kept*: reads of twenty accounts, which are
 * joined and cached until the next slot. *Floors*: a constant from a route of the framework, from a listener of `node:http`,
 * and from a bare socket (`rpc/bare-http.ts`). For reads without cache and for blocks the floor is a proxy that does nothing
 * else (`rpc/bare-proxy.ts`). *Added*: milliseconds above the node's own, for one client at a time. *Block*: bytes a second
 * of 10 MB getBlock answers, and the memory of the process meanwhile. *Batch*: elements a second in batches of 100, compared
 * with single reads.
 *
 * Each side is one process. Ratios are also given by CPU time, which other processes disturb less.
 *
 *     node loadtest/rpc.ts [rounds] [seconds]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeBase58 } from '../src/chain/base58.ts'
import { startMeasured } from './measured-process.ts'
import { reported, writeResult } from './result.ts'
import { ADMIN_KEY, SETTINGS, WITHOUT_LIMITS } from './service-process.ts'
import { closedLoop, type Bodies } from './rpc/closed-loop.ts'
import { startNginx } from './rpc/nginx.ts'
import { countBlocks, readBlocks } from './rpc/long-answers.ts'
import { median } from './median.ts'

const [roundsText = '3', secondsText = '4'] = process.argv.slice(2)
const rounds = Number(roundsText)
const seconds = Number(secondsText)
const BLOCK_BYTES = 10_000_000
const CONNECTIONS = 32
const BLOCK_CONNECTIONS = 2
const HOT_ACCOUNTS = 20
const BATCH = 100
/** Layers of `rpc/bare-http.ts`. */
const FLOORS = ['fastify', 'http', 'net'] as const
/** Blocks for which memory is sampled. */
const MEMORY_BLOCKS = 600

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

interface BlockFigures {
  readonly megabytesPerSecond: number[]
  readonly cpuMicrosPerMegabyte: number[]
}

interface Figures {
  readonly perSecond: number[]
  readonly p50Ms: number[]
  readonly cpuMicros: number[]
}

/** Measures small reads of a node, and its blocks if it has any. Returns figures and their ratios. */
async function measureNode(nodeUrl: string, hasBlocks: boolean): Promise<object> {
  const scratch = mkdtempSync(join(tmpdir(), 'millrace-rpc-'))
  const service = await startMeasured(
    '../src/main.ts',
    [
      ...['serve', '--source', 'recorded', '--recorded-dir', scratch, '--data-dir', join(scratch, 'data')],
      ...['--rpc-url', nodeUrl]
    ],
    { env: { ...SETTINGS, ...WITHOUT_LIMITS } }
  )
  const nginx = await startNginx(nodeUrl)
  const floors = await Promise.all(FLOORS.map((layer) => startMeasured('rpc/bare-http.ts', [layer])))
  const proxy = await startMeasured('rpc/bare-proxy.ts', [nodeUrl])
  const [ours, theirs] = [`${service.url}/v1/rpc?api-key=${ADMIN_KEY}`, `${nginx.url}/`]
  const figures = new Map<string, Figures>()
  const blocks = new Map<string, BlockFigures>()
  let memory: object | null = null
  const round = async (
    name: string,
    url: string,
    bodies: Bodies,
    cpuMs: () => number,
    load = { connections: CONNECTIONS, seconds }
  ): Promise<void> => {
    const before = cpuMs()
    const { perSecond, p50Ms, requests } = await closedLoop(url, bodies, load)
    const of = figures.get(name) ?? { perSecond: [], p50Ms: [], cpuMicros: [] }
    figures.set(name, of)
    of.perSecond.push(perSecond)
    of.p50Ms.push(p50Ms)
    of.cpuMicros.push(((cpuMs() - before) * 1_000) / requests)
    reported(name, { round: of.perSecond.length, per_second: perSecond, cpu_us: of.cpuMicros.at(-1) })
  }
  const blockRound = async (name: string, url: string, cpuMs: () => number): Promise<void> => {
    const before = cpuMs()
    const read = await readBlocks(url, BLOCK_BYTES, { connections: BLOCK_CONNECTIONS, seconds })
    const of = blocks.get(name) ?? { megabytesPerSecond: [], cpuMicrosPerMegabyte: [] }
    blocks.set(name, of)
    of.megabytesPerSecond.push(read.perSecond)
    of.cpuMicrosPerMegabyte.push(((cpuMs() - before) * 1_000) / read.megabytes)
    reported(`blocks of ${name}`, { megabytes_per_second: read.perSecond })
  }
  const oursCpu = (): number => service.threadsCpuMs()
  const nginxCpu = (): number => nginx.cpuMs()
  const proxyCpu = (): number => proxy.threadsCpuMs()
  try {
    for (let n = -1; n < rounds; n++) {
      await round('nginx', theirs, distinct, nginxCpu)
      await round('without_cache', ours, distinct, oursCpu)
      await round('floor_proxy', `${proxy.url}/`, distinct, proxyCpu)
      await round('kept', ours, hot, oursCpu)
      for (const [at, floor] of floors.entries())
        await round(`floor_${FLOORS[at]}`, `${floor.url}/v1/rpc`, hot, () => floor.threadsCpuMs())
      await round('batches', ours, batch, oursCpu, { connections: 4, seconds })
      const alone = { connections: 1, seconds: seconds / 2 }
      await round('node_alone', nodeUrl, distinct, () => 0, alone)
      await round('ours_alone', ours, distinct, oursCpu, alone)
      if (hasBlocks) {
        await blockRound('nginx', theirs, nginxCpu)
        await blockRound('ours', ours, oursCpu)
        await blockRound('floor_proxy', `${proxy.url}/`, proxyCpu)
      }
      // The first round compiles.
      if (n < 0) for (const each of [figures, blocks]) each.clear()
    }
    if (hasBlocks) memory = reported('block_memory', await sampleMemory(ours, () => service.rssMib()))
  } finally {
    await Promise.all([proxy, ...floors].map((floor) => floor.end()))
    await nginx.end()
    await service.end()
    rmSync(scratch, { recursive: true, force: true })
  }
  const of = (name: string): Figures => figures.get(name)!
  const perSecond = (name: string): number => median(of(name).perSecond)
  const cpu = (name: string): number => median(of(name).cpuMicros)
  return {
    requests: Object.fromEntries(figures),
    ...(hasBlocks && { blocks: Object.fromEntries(blocks), block_memory: memory }),
    ratios: {
      without_cache: perSecond('without_cache') / perSecond('nginx'),
      without_cache_of_proxy: perSecond('without_cache') / perSecond('floor_proxy'),
      kept: perSecond('kept') / perSecond('nginx'),
      kept_of_fastify: perSecond('kept') / perSecond('floor_fastify'),
      per_processor_second: {
        without_cache: cpu('nginx') / cpu('without_cache'),
        without_cache_of_proxy: cpu('floor_proxy') / cpu('without_cache'),
        floor_proxy: cpu('nginx') / cpu('floor_proxy'),
        kept: cpu('nginx') / cpu('kept'),
        kept_of_fastify: cpu('floor_fastify') / cpu('kept'),
        floors: Object.fromEntries(FLOORS.map((layer) => [layer, cpu('nginx') / cpu(`floor_${layer}`)]))
      },
      added_p50_ms: median(of('ours_alone').p50Ms) - median(of('node_alone').p50Ms),
      ...(hasBlocks && blockRatios((name) => blocks.get(name)!)),
      batch_elements: (perSecond('batches') * BATCH) / perSecond('without_cache')
    }
  }
}

/** Ratios to nginx, and to a proxy that does nothing else, by bytes a second and by processor time. */
function blockRatios(of: (name: 'nginx' | 'ours' | 'floor_proxy') => BlockFigures): object {
  const perSecond = (name: 'nginx' | 'ours' | 'floor_proxy'): number => median(of(name).megabytesPerSecond)
  const cpu = (name: 'nginx' | 'ours' | 'floor_proxy'): number => median(of(name).cpuMicrosPerMegabyte)
  return {
    block_bytes: perSecond('ours') / perSecond('nginx'),
    block_bytes_of_proxy: perSecond('ours') / perSecond('floor_proxy'),
    block_per_processor_second: {
      ours: cpu('nginx') / cpu('ours'),
      floor_proxy: cpu('nginx') / cpu('floor_proxy')
    }
  }
}

/**
 * Reads many blocks, and returns the memory of the process in each tenth of the run. It is flat if the last tenths are not
 * above the others.
 */
async function sampleMemory(url: string, rssMib: () => number): Promise<object> {
  const samples: number[] = []
  const timer = setInterval(() => samples.push(rssMib()), 50)
  let blocks = 0
  while (blocks < MEMORY_BLOCKS)
    blocks += await countBlocks(url, BLOCK_BYTES, { connections: BLOCK_CONNECTIONS, seconds: 1 })
  clearInterval(timer)
  const tenth = Math.ceil(samples.length / 10)
  const tenths = Array.from({ length: 10 }, (_, at) => samples.slice(at * tenth, (at + 1) * tenth))
  return {
    blocks,
    samples: samples.length,
    rss_mib_max_by_tenth: tenths.flatMap((each) => (each.length === 0 ? [] : Math.max(...each)))
  }
}

const { RealValidator } = await import('../test/node/real-validator.ts')
async function thenEnd<T>(measured: Promise<T>, end: () => Promise<unknown>): Promise<T> {
  try {
    return await measured
  } finally {
    await end()
  }
}

const validator = await RealValidator.start()
const ofValidator = await thenEnd(measureNode(validator.url, false), () => validator.end())
const bare = await startMeasured('rpc/upstream.ts', [String(BLOCK_BYTES)])
const ofBareNode = await thenEnd(measureNode(bare.url, true), () => bare.end())
await writeResult('rpc', {
  connections: CONNECTIONS,
  seconds_a_round: seconds,
  block_bytes: BLOCK_BYTES,
  validator: ofValidator,
  bare_node: ofBareNode,
  bars: { without_cache: 0.5, kept: 1, added_p50_ms: 1, block_bytes: 0.8, batch_elements: 5 }
})
process.exit(0)
