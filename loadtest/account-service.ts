import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { Test } from 'tap'
import { MintDirectory } from '../src/accounts/mint-directory.ts'
import { PoolDirectory } from '../src/accounts/pools/pool-directory.ts'
import { systemPorts } from '../src/ports.ts'
import { processMetrics } from '../test/products/process-metrics.ts'
import { fakeAccounts, type FakeAccountNode } from '../test/accounts/fake-account-node.ts'
import { appOf } from '../test/http/app-of.ts'
import { marketApp, type MarketApp } from '../test/http/market-app.ts'

/** The HTTP side with its own store and a node in memory, in one process and without sockets. */
export interface AccountService {
  readonly app: MarketApp
  readonly node: FakeAccountNode
  /** Gets a path with the service's key. Rejects unless the answer is a 200. */
  readonly get: (path: string) => Promise<void>
}

/** Runs a measurement on such a service, whose folder is removed afterwards. */
export async function withAccountService(
  name: string,
  measure: (service: AccountService) => Promise<void>
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), `millrace-${name}-`))
  const ends: (() => unknown)[] = []
  try {
    const test = { testdir: () => join(directory, 'store'), teardown: (end: () => unknown) => ends.push(end) }
    const { node } = fakeAccounts()
    // This process's share of the default memory.
    const options = { node, clock: systemPorts.clock, bytesMax: 16 * 2 ** 20 }
    const accounts = {
      node,
      mints: new MintDirectory(options),
      pools: new PoolDirectory(options),
      offChain: null,
      images: null
    }
    const app = await marketApp(test as unknown as Test, undefined, { accounts, hotBytesMax: 64 * 2 ** 20 })
    app.nowMs = Date.now()
    const { deps } = app
    const quiet = { logger: pino({ level: 'silent' }), metrics: processMetrics(deps.decoding) }
    const served = appOf({ ...deps, ...quiet })
    ends.push(() => served.close())
    await measure({ app, node, get: (path) => answered(served, app.key, path) })
  } finally {
    for (const end of ends.toReversed()) await end()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function answered(served: FastifyInstance, key: string, path: string): Promise<void> {
  const { statusCode, body } = await served.inject({ url: path, headers: { 'x-api-key': key } })
  if (statusCode !== 200) throw new Error(`${path} returned ${statusCode}: ${body}`)
}
