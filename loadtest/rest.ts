/**
 * REST over the wire: the service on the recorded data against a bare Fastify route that returns the same bytes from
 * memory, each in a process of its own, in alternate rounds of one run. Answers are compared byte by byte.
 *
 *     node loadtest/rest.ts [seconds]
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import autocannon from 'autocannon'
import { fixturesDirectory } from './fixtures.ts'
import { writeResult } from './result.ts'

const seconds = Number(process.argv[2] ?? 5)
const CONNECTIONS = 20
const ROUNDS = 2
const WSOL = 'So11111111111111111111111111111111111111112'
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const KEY = 'an-admin-key-of-the-loadtest'
const headers = { 'x-api-key': KEY }
const PATHS = {
  'trades 100': `/v1/tokens/${WSOL}/trades?limit=100`,
  'candles 300': `/v1/tokens/${WSOL}/candles?cash=${USDC}&limit=300`,
  price: `/v1/tokens/${WSOL}/price`,
  'launches 50': '/v1/launches?limit=50'
}

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-rest-'))
const children: ChildProcess[] = []

async function start(
  script: string,
  args: readonly string[],
  env: Record<string, string>,
  ready: RegExp
): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  children.push(child)
  let url = ''
  const waiting = new Set<'url' | 'ready'>(['url', 'ready'])
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${script} ended with ${String(code)}`)))
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        url ||= /listening on (http:\S+)/.exec(line)?.[1] ?? ''
        if (url !== '') waiting.delete('url')
        if (ready.test(line)) waiting.delete('ready')
        if (waiting.size === 0) resolve(url)
      })
    }
  })
}

async function measure(url: string): Promise<{ rate: number; p99: number }> {
  const result = await autocannon({ url, headers, connections: CONNECTIONS, duration: seconds })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} answers were no success`)
  return { rate: result.requests.average, p99: result.latency.p99 }
}

try {
  const service = await start(
    '../src/main.ts',
    [
      'serve',
      '--source',
      'recorded',
      '--recorded-dir',
      fixturesDirectory(),
      '--data-dir',
      dataDir,
      '--port',
      '0'
    ],
    { MILLRACE_ADMIN_KEY: KEY, MILLRACE_LOG_LEVEL: 'info' },
    /the source has no more blocks/
  )
  const figures: Record<string, unknown> = {}
  for (const [name, path] of Object.entries(PATHS)) {
    const answer = await (await fetch(service + path, { headers })).text()
    const bare = await start('bare-route.ts', [Buffer.from(answer).toString('base64')], {}, /listening/)
    const ours = { rate: 0, p99: 0 }
    const peer = { rate: 0, p99: 0 }
    for (let round = 0; round < ROUNDS; round++) {
      for (const [url, sum] of [
        [service + path, ours],
        [bare, peer]
      ] as const) {
        const { rate, p99 } = await measure(url)
        sum.rate += rate / ROUNDS
        sum.p99 = Math.max(sum.p99, p99)
      }
    }
    const same = (await (await fetch(service + path, { headers })).text()) === answer
    figures[name] = {
      bytes: answer.length,
      requests_per_second: Math.round(ours.rate),
      bare_route: Math.round(peer.rate),
      ratio: ours.rate / peer.rate,
      p99_ms: { millrace: ours.p99, bare_route: peer.p99 },
      same_answer_after_the_load: same
    }
    const child = children.pop()!
    child.kill()
    await once(child, 'exit')
  }
  await writeResult('rest', { connections: CONNECTIONS, closed_loop: true, endpoints: figures })
} finally {
  for (const child of children) {
    child.removeAllListeners('exit')
    child.kill()
    await once(child, 'exit')
  }
  rmSync(dataDir, { recursive: true })
}
