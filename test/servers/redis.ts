import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort } from './free-port.ts'
import { notRun } from './not-run.ts'
import { makeServerFolder, removeServerFolder, ServerProcess } from './server-process.ts'

const ADDRESS = '127.0.0.1'
const START_WITHIN_MS = 60_000

/** A Redis without persistence, empty after a restart. It belongs to one test. */
export class OwnRedis extends ServerProcess {
  readonly port: number
  readonly #folder: string

  private constructor(port: number, folder: string) {
    super({
      command: 'redis-server',
      args: [
        ...['--port', String(port), '--bind', ADDRESS, '--dir', folder],
        ...['--save', '', '--appendonly', 'no']
      ],
      cwd: folder,
      log: join(folder, 'redis.log'),
      address: ADDRESS,
      port,
      startWithinMs: START_WITHIN_MS
    })
    this.port = port
    this.#folder = folder
  }

  /** Starts a Redis on a free port of 127.0.0.1. Resolves once it accepts connections. */
  static async start(): Promise<OwnRedis> {
    const redis = new OwnRedis(await freePort([ADDRESS]), makeServerFolder('redis'))
    try {
      await redis.start()
      return redis
    } catch (error) {
      await redis.end()
      throw error
    }
  }

  get url(): string {
    return `redis://${ADDRESS}:${this.port}`
  }

  /** Kills it and deletes its folder. */
  async end(): Promise<void> {
    await this.kill()
    removeServerFolder(this.#folder)
  }
}

/** A Redis for a test, with the prefix of the test's keys and channels. */
export interface RedisServer {
  readonly url: string
  readonly prefix: string
}

/** Returns the reason why no Redis can be started here, or undefined if one can. */
export function redisMissing(): string | undefined {
  if (process.platform === 'win32') return 'its signals are those of Unix'
  const found = spawnSync('redis-server', ['--version']).status === 0
  return found ? undefined : 'there is no redis-server (apt-get install redis-server)'
}

/** Declares a test that talks to a real Redis: that of REDIS_URL, or its own. */
export function testWithRedis(t: Test, name: string, run: (t: Test, redis: RedisServer) => unknown): void {
  const url = process.env.REDIS_URL
  if (url === undefined)
    return testWithOwnRedis(t, name, (t, { url }) => run(t, { url, prefix: newPrefix() }))
  void t.test(name, async (t) => {
    await run(t, { url, prefix: newPrefix() })
  })
}

/**
 * Declares a test with its own Redis, to kill and to pause. Without one it is reported as not run, and fails if CI is set.
 */
export function testWithOwnRedis(t: Test, name: string, run: (t: Test, redis: OwnRedis) => unknown): void {
  const why = redisMissing()
  if (why !== undefined) return notRun(t, name, why)
  void t.test(name, async (t) => {
    const redis = await OwnRedis.start()
    t.teardown(() => redis.end())
    await run(t, redis)
  })
}

function newPrefix(): string {
  return `test:${randomBytes(8).toString('hex')}:`
}
