/**
 * Measures what `millrace plan` needs and no other program measures: bytes on disk by how long rows stay, and the requests
 * that a source sends to its node. Each part takes a minute, and replaces its own figures in the result:
 *
 *     node --max-semi-space-size=64 loadtest/capacity.ts disk [TRADES]
 *     node loadtest/capacity.ts node
 */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { encodeBase58 } from '../src/chain/base58.ts'
import { SUBMISSION, type Submission } from '../src/transactions/submission.ts'
import { Documents } from '../storage/documents.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { ROW_KINDS, type Stay } from '../storage/row-kinds.ts'
import { diskBytes } from './disk-bytes.ts'
import { ensureMarketStore } from './market-store.ts'
import { marketOf } from './market/population.ts'
import { readResult, reported, writeResult } from './result.ts'
import { ADMIN_KEY } from './service-process.ts'
import { compactStore } from './settled-store.ts'

const SUBMISSIONS = 5_000
const ACCOUNTS = 100_000
/** Bytes of a token account's data. */
const ACCOUNT_BYTES = 165
const ACCOUNTS_A_WRITE = 5_000
const NODE_SECONDS = 60
/** The method of the RPC URL's probes, which nothing else requests while no client does. */
const RPC_PROBE = 'getLatestBlockhash'

const [part = 'disk', count = '300000'] = process.argv.slice(2)
const trades = Number(count)
const directory = await mkdtemp(join(tmpdir(), 'millrace-capacity-'))
try {
  const disk = ['trades', 'bytes_a_submission', 'bytes_a_mirrored_account']
  await writeResult('capacity', {
    ...readResult('capacity', part === 'disk' ? ['node_requests'] : disk),
    ...(part === 'disk'
      ? {
          trades: reported('trades', await tradeBytes(join(directory, 'market'))),
          bytes_a_submission: reported(
            'bytes_a_submission',
            await submissionBytes(join(directory, 'submissions'))
          ),
          bytes_a_mirrored_account: reported(
            'bytes_a_mirrored_account',
            await accountBytes(join(directory, 'accounts'))
          )
        }
      : { node_requests: reported('node_requests', await nodeRequests(directory)) })
  })
} finally {
  await rm(directory, { recursive: true, force: true })
}

/** Returns the bytes a trade of a compacted synthetic market, by how long its rows stay. */
async function tradeBytes(place: string): Promise<Record<string, unknown>> {
  const size = marketOf(trades)
  await ensureMarketStore(place, size, (line) => process.stderr.write(`${line}\n`))
  const path = join(place, 'store')
  await compactStore(path)
  const storage = await openEmbeddedStorage({ directory: path })
  const { kinds } = await storage.usage()
  await storage.close()
  const staying = new Map(ROW_KINDS.map(({ name, stays }) => [name, stays]))
  const bytesOf = (stay: Stay): number =>
    kinds.filter(({ kind }) => staying.get(kind) === stay).reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    count: trades,
    mints: size.mints,
    wallets: size.wallets,
    bytes_a_trade_on_disk: diskBytes(path) / trades,
    bytes_a_trade: {
      retention: bytesOf('retention') / trades,
      always: bytesOf('always') / trades,
      replay: bytesOf('replay') / trades,
      needed: bytesOf('needed') / trades
    }
  }
}

/** Returns the bytes of an ended submission with its entries. */
async function submissionBytes(path: string): Promise<number> {
  const storage = await openEmbeddedStorage({ directory: path })
  const documents = new Documents(storage.documents, SUBMISSION)
  for (let at = 0; at < SUBMISSIONS; at += 100)
    await Promise.all(Array.from({ length: 100 }, (_, place) => documents.insert(ended(at + place))))
  await storage.close()
  await compactStore(path)
  return diskBytes(path) / SUBMISSIONS
}

function ended(number: number): Submission {
  const nowMs = 1_780_000_000_000 + number
  return {
    tenant: 'acme',
    signature: encodeBase58(randomBytes(64)),
    wire: null,
    route: 'node',
    revertProtection: false,
    receivedAtMs: nowMs,
    receivedSlot: 400_000_000,
    receivedHeight: 380_000_000,
    lastValidBlockHeight: 380_000_150,
    blockhash: encodeBase58(randomBytes(32)),
    nonceAccount: null,
    bundleId: null,
    end: {
      token: 1,
      state: 'finalized',
      slot: 400_000_003,
      commitment: 'finalized',
      index: 412,
      err: null,
      confirmations: null,
      rebroadcasts: 1,
      leadersSent: 4,
      firstSentAtMs: nowMs + 2,
      lastSentAtMs: nowMs + 2_002,
      firstSentSlot: 400_000_000,
      landedAtMs: nowMs + 1_400,
      lastValidBlockHeight: 380_000_150,
      updatedAtMs: nowMs + 14_000,
      evidence: 'block',
      claimedAtMs: null,
      claimedSlot: null
    }
  }
}

/** Returns the bytes of a mirrored token account without indexes. */
async function accountBytes(path: string): Promise<number> {
  const storage = await openEmbeddedStorage({ directory: path })
  const program = randomBytes(32)
  for (let at = 0; at < ACCOUNTS; at += ACCOUNTS_A_WRITE)
    await storage.programAccounts.put(
      program,
      Array.from({ length: ACCOUNTS_A_WRITE }, () => ({
        address: randomBytes(32),
        slot: 400_000_000,
        // Two addresses, an amount, and zeros: as a token account.
        account: {
          lamports: 2_039_280n,
          executable: false,
          rentEpoch: 2n ** 64n - 1n,
          data: Buffer.concat([randomBytes(72), Buffer.alloc(ACCOUNT_BYTES - 72)])
        }
      })),
      []
    )
  await storage.close()
  await compactStore(`${path}.accounts`)
  return diskBytes(`${path}.accounts`) / ACCOUNTS
}

/** Counts the requests of the rpc source and of the idle RPC URL to a node, which is that of a localnet. */
async function nodeRequests(place: string): Promise<Record<string, unknown>> {
  const net = await startedService(['--data-dir', join(place, 'localnet')])
  await isLive(net.url)
  const counts = new Map<string, number>()
  const proxy = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString('utf8')
      for (const [, method] of body.matchAll(/"method":"(\w+)"/g))
        counts.set(method!, (counts.get(method!) ?? 0) + 1)
      const answer = await fetch(net.nodeUrl!, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' }
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' })
      response.end(Buffer.from(await answer.arrayBuffer()))
    })().catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => proxy.once('listening', resolve))
  const rpcUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const reader = await startedService([
    ...['--data-dir', join(place, 'reader'), '--source', 'rpc', '--rpc-url', rpcUrl],
    ...['--rpc-ws-url', net.nodeUrl!.replace('http', 'ws')]
  ])
  try {
    await isLive(reader.url)
    counts.clear()
    const before = await headSlot(reader.url)
    await delay(NODE_SECONDS * 1_000)
    const slots = (await headSlot(reader.url)) - before
    const sum = (isCounted: (method: string) => boolean): number =>
      [...counts].reduce((all, [method, count]) => all + (isCounted(method) ? count : 0), 0) / NODE_SECONDS
    return {
      seconds: NODE_SECONDS,
      slots_a_second: slots / NODE_SECONDS,
      rpc_source_a_second: sum((method) => method !== RPC_PROBE),
      probes_of_them_a_second: sum((method) => method === 'getSlot'),
      rpc_url_a_second: sum((method) => method === RPC_PROBE),
      by_method: Object.fromEntries(counts)
    }
  } finally {
    await reader.end()
    await net.end()
    proxy.close()
    proxy.closeAllConnections()
  }
}

async function isLive(url: string): Promise<void> {
  for (;;) {
    const { status } = (await (await fetch(`${url}/v1/health`)).json()) as { status: string }
    if (status === 'ok') return
    await delay(1_000)
  }
}

async function headSlot(url: string): Promise<number> {
  const { slot } = (await (await fetch(`${url}/v1/health`)).json()) as { slot: number }
  return slot
}

/** Starts a service; resolves with its URL, and that of a localnet's node, once it listens. */
async function startedService(flags: readonly string[]) {
  const program = join(import.meta.dirname, '../src/kernel/cli/millrace.js')
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', ...flags], {
    env: { PATH: process.env.PATH ?? '', MILLRACE_ADMIN_KEY: ADMIN_KEY, MILLRACE_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let nodeUrl: string | null = null
  for await (const line of createInterface(child.stdout)) {
    nodeUrl = /its node: (\S+)/.exec(line)?.[1] ?? nodeUrl
    const url = /^listening on (\S+)/.exec(line)?.[1]
    if (url === undefined) continue
    child.stdout.resume()
    const end = async (): Promise<void> => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    }
    return { url, nodeUrl, end }
  }
  throw new Error('a service ended before it listened')
}
