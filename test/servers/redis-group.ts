import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type { Test } from 'tap'
import { until } from '../until.ts'
import type { Certificates } from './certificates.ts'
import { freePort } from './free-port.ts'
import { notRun } from './not-run.ts'
import { redisMissing } from './redis.ts'
import { makeServerFolder, removeServerFolder, ServerProcess } from './server-process.ts'

const ADDRESS = '127.0.0.1'
const START_WITHIN_MS = 60_000
/** Milliseconds after which Sentinels count a server as down. */
const DOWN_AFTER_MS = 1_000

/** A Redis server of a group: a replica, a Sentinel, a node of a cluster, or one with TLS. */
export class RedisNode extends ServerProcess {
  readonly port: number

  constructor(port: number, folder: string, args: readonly string[]) {
    super({
      command: 'redis-server',
      args: [...args, '--bind', ADDRESS, '--dir', folder, '--save', '', '--appendonly', 'no'],
      cwd: folder,
      log: join(folder, `${port}.log`),
      address: ADDRESS,
      port,
      startWithinMs: START_WITHIN_MS
    })
    this.port = port
  }
}

/** Servers of one test, which end with it. */
export class RedisGroup {
  readonly folder = makeServerFolder('redis-group')
  readonly #nodes: ServerProcess[] = []

  constructor(t: Test) {
    t.teardown(async () => {
      await Promise.all(this.#nodes.map((node) => node.kill()))
      removeServerFolder(this.folder)
    })
  }

  /** Starts a server on a free port. */
  async server(...args: readonly string[]): Promise<RedisNode> {
    const port = await freePort([ADDRESS])
    return this.#start(new RedisNode(port, this.folder, ['--port', String(port), ...args]))
  }

  /** Starts a server that accepts TLS alone, from clients with a certificate. */
  async tlsServer({ ca, server }: Certificates, ...args: readonly string[]): Promise<RedisNode> {
    const port = await freePort([ADDRESS])
    const files = ['--tls-ca-cert-file', ca, '--tls-cert-file', server.cert, '--tls-key-file', server.key]
    return this.#start(
      new RedisNode(port, this.folder, ['--port', '0', '--tls-port', String(port), ...files, ...args])
    )
  }

  /** Starts a Sentinel of a primary. A failover needs `quorum` Sentinels that find the primary down. */
  async sentinel(name: string, primary: RedisNode, quorum: number): Promise<RedisNode> {
    const port = await freePort([ADDRESS])
    const file = join(this.folder, `sentinel-${port}.conf`)
    writeFileSync(
      file,
      [
        `port ${port}`,
        `sentinel monitor ${name} ${ADDRESS} ${primary.port} ${quorum}`,
        `sentinel down-after-milliseconds ${name} ${DOWN_AFTER_MS}`,
        `sentinel failover-timeout ${name} 10000`,
        ''
      ].join('\n')
    )
    return this.#start(new RedisNode(port, this.folder, [file, '--sentinel']))
  }

  /** Starts a cluster of primaries that share all hash slots equally. */
  async cluster(count: number): Promise<readonly RedisNode[]> {
    const nodes: RedisNode[] = []
    for (let at = 0; at < count; at++) {
      // The bus of a node has the port 10,000 above.
      const port = await freePort([ADDRESS])
      const own = ['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${port}.conf`]
      nodes.push(
        await this.#start(
          new RedisNode(port, this.folder, [
            ...['--port', String(port), '--cluster-port', String(await freePort([ADDRESS]))],
            ...own
          ])
        )
      )
    }
    const share = Math.ceil(16_384 / count)
    for (const [at, node] of nodes.entries()) {
      const last = Math.min(16_383, (at + 1) * share - 1)
      await this.call(node, 'CLUSTER', 'ADDSLOTSRANGE', at * share, last)
      await this.call(node, 'CLUSTER', 'SET-CONFIG-EPOCH', at + 1)
    }
    const ports = await Promise.all(nodes.map((node) => this.call(node, 'CONFIG', 'GET', 'cluster-port')))
    for (const [at, node] of nodes.entries())
      await this.call(nodes[0]!, 'CLUSTER', 'MEET', ADDRESS, node.port, (ports[at] as string[])[1]!)
    const isWhole = async (node: RedisNode): Promise<boolean> => {
      const said = String(await this.call(node, 'CLUSTER', 'INFO'))
      return said.includes('cluster_state:ok') && said.includes(`cluster_known_nodes:${count}`)
    }
    for (const node of nodes) await until(() => isWhole(node), 'the node sees the cluster')
    return nodes
  }

  /** Sends a command to a server, by a connection of its own. */
  async call(node: RedisNode, command: string, ...args: readonly (string | number)[]): Promise<unknown> {
    const client = new Redis(node.port, ADDRESS, { retryStrategy: () => null })
    client.on('error', () => undefined)
    try {
      return await client.call(command, ...args)
    } finally {
      client.disconnect()
    }
  }

  async #start(node: RedisNode): Promise<RedisNode> {
    this.#nodes.push(node)
    await node.start()
    return node
  }
}

/** Declares a test with several Redis servers of its own. Without Redis it is reported as not run, and fails if CI is set. */
export function testWithRedisGroup(
  t: Test,
  name: string,
  run: (t: Test, group: RedisGroup) => unknown
): void {
  const why = redisMissing()
  if (why !== undefined) return notRun(t, name, why)
  void t.test(name, async (t) => {
    await run(t, new RedisGroup(t))
  })
}
