import { isDeepStrictEqual } from 'node:util'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection, PublicKey } from '@solana/web3.js'
import t, { type Test } from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { TIP_ACCOUNTS } from '../../src/localnet/engine/tip-accounts.ts'
import { testWithCql, type CqlServer } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { startTestEngine, type TestEngine } from '../servers/test-engine.ts'
import { linkTo, type PausableLink } from '../storage/pausable-link.ts'
import { signedWire, toBase64, transfer, wallet } from '../transactions/signed.ts'
import { until } from './asking.ts'
import { clusterEnvironment, ownKeyspace } from './cluster.ts'
import { startOwnLocalnet } from './own-localnet.ts'
import { RecordingNode } from './recording-node.ts'
import { ADMIN_KEY, startProcess, type ServiceProcess } from './service-process.ts'

/** A blockhash lives for 30 s: within that, a lease of 3 s ends, and a block is finalized after 6 s. */
const SLOT_MS = 200
const TENANTS = ['amber', 'birch', 'cedar', 'delta', 'ember', 'flint'] as const
/** Two periods of the loop. */
const PERIODS_MS = 4_000

interface Member {
  readonly name: string
  readonly node: RecordingNode
  readonly link: PausableLink
  readonly service: ServiceProcess
  /** The UUID by which the block engine identifies the caller. */
  readonly auth: string
}

interface Submitted {
  readonly signature: string
  readonly tenant: string
  readonly isDropped: boolean
}

interface TreeUnit {
  readonly name: string
  readonly gauges?: Readonly<Record<string, number>>
  readonly children?: readonly TreeUnit[]
}

/** Processes of one service on one chain. Each has its own node, its own link to Redis and its own name at the engine. */
class Cluster {
  readonly chain: Connection
  readonly engine: TestEngine
  readonly #t: Test
  readonly #rpcUrl: string
  readonly #directory: string
  readonly #environment: (redisUrl: string) => Record<string, string>
  readonly #redisUrl: string
  /** Receipts by all nodes in their order. */
  readonly receipts: { readonly signature: string; readonly by: string }[] = []
  readonly #dropped = new Set<string>()
  readonly #keys = new Map<string, string>()
  /** More than the rent of a new account. */
  #lamports = 1_000_000n

  constructor(
    t: Test,
    options: {
      readonly server: CqlServer
      readonly redisUrl: string
      readonly rpcUrl: string
      readonly engine: TestEngine
      readonly directory: string
    }
  ) {
    const { server, redisUrl, rpcUrl, engine, directory } = options
    const keyspace = ownKeyspace(t, server)
    this.#t = t
    this.#redisUrl = redisUrl
    this.#rpcUrl = rpcUrl
    this.#directory = directory
    this.engine = engine
    this.chain = new Connection(rpcUrl, 'confirmed')
    this.#environment = (url) => clusterEnvironment(server, keyspace, url)
  }

  async start(name: string, role: string): Promise<Member> {
    const node = await RecordingNode.start(this.#t, this.#rpcUrl)
    node.onSend = (point, signature) => {
      if (point === 'received') this.receipts.push({ signature, by: name })
    }
    for (const signature of this.#dropped) node.dropped.add(signature)
    const link = await linkTo(this.#t, this.#redisUrl)
    const auth = randomUUID()
    const service = await startProcess({
      dataDir: `${this.#directory}/${name}`,
      recordedDir: null,
      environment: {
        ...this.#environment(link.url),
        MILLRACE_TPU: 'off',
        MILLRACE_BLOCK_ENGINE_URL: this.engine.url,
        MILLRACE_BLOCK_ENGINE_AUTH: auth,
        MILLRACE_BLOCK_ENGINE_RATE: '1000'
      },
      more: [
        ...['--role', role, '--source', 'rpc', '--rpc-url', node.url],
        ...['--rate-limit-per-minute', '1000000']
      ]
    })
    this.#t.teardown(async () => {
      if (service.child.exitCode === null && service.child.signalCode === null) await service.end('SIGKILL')
      if (!this.#t.passing()) for (const line of service.stderr.slice(-20)) this.#t.comment(line)
    })
    return { name, node, link, service, auth }
  }

  async makeKeys({ service }: Member): Promise<void> {
    for (const tenant of TENANTS) {
      await post(service, ADMIN_KEY, '/v1/admin/tenants', { name: tenant })
      const body = { tenant, scopes: ['tx:send'], rate_limit_per_minute: 1_000_000 }
      this.#keys.set(tenant, String((await post(service, ADMIN_KEY, '/v1/admin/keys', body))['key']))
    }
  }

  /** Submits one transaction for each tenant by each of some processes; of two every second one never lands. */
  async submitByAll(members: readonly Member[], all: readonly Member[]): Promise<Submitted[]> {
    const submitted: Submitted[] = []
    for (const [at, tenant] of TENANTS.entries())
      for (const [of, by] of members.entries())
        submitted.push(await this.submit(by, tenant, { isDropped: (at + of) % 2 === 0, all }))
    return submitted
  }

  async submit(
    by: Member,
    tenant: string,
    { isDropped, all }: { readonly isDropped: boolean; readonly all: readonly Member[] }
  ): Promise<Submitted> {
    const { tx, signature } = await this.#sign([transfer(this.#lamports++)])
    if (isDropped) {
      this.#dropped.add(signature)
      for (const { node } of all) node.dropped.add(signature)
    }
    await post(by.service, this.#keys.get(tenant)!, '/v1/tx/send', { tx })
    return { signature, tenant, isDropped }
  }

  /** Submits a bundle of one transaction with a tip. */
  async submitBundle(by: Member, tenant: string): Promise<{ readonly id: string; readonly tx: string }> {
    const tip = transfer(1_000_000n, new PublicKey(TIP_ACCOUNTS[0]!))
    const { tx } = await this.#sign([transfer(this.#lamports++), tip])
    const answer = await post(by.service, this.#keys.get(tenant)!, '/v1/tx/bundle', { txs: [tx] })
    return { id: String(answer['bundle_id']), tx }
  }

  /** Executes a bundle of one transaction, as the engine's leader does. */
  async land(tx: string): Promise<void> {
    await this.chain.sendEncodedTransaction(tx, { skipPreflight: true })
  }

  async status({ service }: Member, tenant: string, path: string): Promise<Record<string, unknown>> {
    return { ...(await service.get(path, this.#keys.get(tenant))).body }
  }

  /** Names of the processes by which the nodes received a signature, in order. */
  sendersOf(signature: string): string[] {
    return this.receipts.filter((each) => each.signature === signature).map(({ by }) => by)
  }

  /** Names of the processes that gave a bundle to the engine, in order. */
  submittersOf(tx: string, members: readonly Member[]): string[] {
    return this.engine.requests
      .filter(({ method, params }) => method === 'sendBundle' && (params[0] as string[])[0] === tx)
      .map(({ auth }) => members.find((each) => each.auth === auth)!.name)
  }

  async #sign(instructions: Parameters<typeof signedWire>[0]) {
    const { blockhash } = await this.chain.getLatestBlockhash('confirmed')
    const wire = signedWire(instructions, { blockhash })
    return { tx: toBase64(wire), signature: encodeBase58(wire.subarray(1, 65)) }
  }
}

async function post(
  { url }: ServiceProcess,
  key: string,
  path: string,
  body: object
): Promise<Record<string, unknown>> {
  return until(async () => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    const text = await answer.text()
    // A new key reaches a process a moment later. A busy machine may let the engine wait for longer than a request does.
    if ([401, 502, 503].includes(answer.status)) return null
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }, path)
}

async function shardsOf({ service }: Member): Promise<number> {
  await sleep(100)
  const { body } = await service.get('/v1/admin/tree')
  const children = (body.children ?? []) as unknown as readonly TreeUnit[]
  const supervisor = children.find(({ name }) => name === 'transactions')
  return supervisor?.children?.find(({ name }) => name === 'tracking')?.gauges?.['shards'] ?? 0
}

const haveShards = async (members: readonly Member[], each: number): Promise<boolean> =>
  (await Promise.all(members.map(shardsOf))).every((shards) => shards === each)

/** Whether all sends of a former owner came before its successor's, except for one that was in flight. */
function judgeOwners(t: Test, senders: readonly string[], former: string, what: string): void {
  const first = senders.findIndex((by) => by !== former)
  const after = first === -1 ? [] : senders.slice(first)
  t.ok(after.filter((by) => by === former).length <= 1, `${what} has one sender at a time: ${senders.join()}`)
}

testWithCql(t, 'transactions on one CQL server', (t, server) =>
  testWithOwnRedis(
    t,
    'two processes share the shards; what one of them had goes on at the other after a kill, and after it was cut off from Redis',
    async (t, redis) => {
      const directory = t.testdir({ chain: {} })
      const net = await startOwnLocalnet(t, `${directory}/chain`, SLOT_MS)
      const engine = await startTestEngine(t)
      const cluster = new Cluster(t, { server, redisUrl: redis.url, rpcUrl: net.rpcUrl, engine, directory })
      await cluster.chain.requestAirdrop(wallet(1).publicKey, 1_000_000_000)
      const first = await cluster.start('first', 'gateway,delivery')
      const second = await cluster.start('second', 'ingest,gateway,delivery')
      await cluster.makeKeys(second)
      await until(() => haveShards([first, second], 16), 'each has its share')

      const begun = await cluster.submitByAll([first, second], [first, second])
      await until(
        async () => begun.every(({ signature }) => cluster.sendersOf(signature).length > 0),
        'sends'
      )
      const owners = new Map(begun.map(({ tenant, signature }) => [tenant, cluster.sendersOf(signature)[0]!]))
      t.equal(new Set(owners.values()).size, 2, 'both processes have tenants')
      const pending = begun.filter(({ isDropped }) => isDropped)
      const ofFirst = pending.filter(({ tenant }) => owners.get(tenant) === 'first')
      await until(
        async () => pending.every(({ signature }) => cluster.sendersOf(signature).length > 1),
        'the loop runs'
      )
      engine.fault('sendBundle', { kind: 'late', ms: 500 })
      const cut = await cluster.submitBundle(second, ofFirst[0]!.tenant)
      await until(async () => cluster.submittersOf(cut.tx, [first, second]).length > 0, 'the bundle is sent')
      await first.service.end('SIGKILL')
      const killedAtMs = Date.now()
      await until(
        async () => ofFirst.every(({ signature }) => cluster.sendersOf(signature).includes('second')),
        'the second process sends what the killed one had'
      )
      t.comment(`taken over after ${Date.now() - killedAtMs} ms`)
      await cluster.land(cut.tx)

      const third = await cluster.start('third', 'gateway,delivery')
      const all = [second, third]
      await until(() => haveShards(all, 16), 'a new process gets its share')
      const more = await cluster.submitByAll(all, all)
      await until(async () => more.every(({ signature }) => cluster.sendersOf(signature).length > 0), 'sends')
      const ofThird = more.filter(({ signature }) => cluster.sendersOf(signature)[0] === 'third')
      t.ok(ofThird.length > 0, 'the new process has tenants')
      const tenant = ofThird[0]!.tenant
      const refused = { kind: 'status', status: 429 } as const
      engine.fault('sendBundle', ...Array.from({ length: 6 }, () => refused))
      const moved = await cluster.submitBundle(third, tenant)
      await until(async () => cluster.submittersOf(moved.tx, all).length > 0, 'the bundle is tried')
      third.link.pause()
      const late = [
        await cluster.submit(third, tenant, { isDropped: true, all }),
        await cluster.submit(third, tenant, { isDropped: false, all }),
        await cluster.submit(second, tenant, { isDropped: true, all })
      ]
      more.push(...late)
      ofThird.push(...late)
      await until(
        async () =>
          ofThird
            .filter(({ isDropped }) => isDropped)
            .every(({ signature }) => cluster.sendersOf(signature).includes('second')),
        'the second process sends what the one without Redis had'
      )
      await until(async () => engine.taken.has(moved.id), 'the engine has the bundle')
      await cluster.land(moved.tx)
      await sleep(PERIODS_MS)
      for (const { signature } of ofThird) judgeOwners(t, cluster.sendersOf(signature), 'third', signature)
      const submitters = cluster.submittersOf(moved.tx, all)
      judgeOwners(t, submitters, 'third', 'the bundle')
      t.equal(submitters.at(-1), 'second')
      third.link.resume()
      await until(() => haveShards(all, 16), 'the process is back')

      for (const [{ id, tx }, of] of [
        [cut, ofFirst[0]!.tenant],
        [moved, tenant]
      ] as const) {
        const path = `/v1/tx/bundle/${id}/status`
        await until(
          async () => (await cluster.status(third, of, path))['confirmation_status'] === 'finalized',
          'the bundle ends'
        )
        t.match(await cluster.status(second, of, path), { status: 'landed' })
        t.comment(`bundle sent by ${cluster.submittersOf(tx, [first, ...all]).join()}`)
      }
      t.strictSame(cluster.submittersOf(cut.tx, [first, ...all]), ['first'], 'a bundle is not sent again')

      for (const each of [...begun, ...more]) {
        const { signature, isDropped } = each
        const path = `/v1/tx/${signature}/status`
        const last = await until(async () => {
          const now = await cluster.status(second, each.tenant, path)
          return now['expired'] === true || now['status'] === 'finalized' ? now : null
        }, `${signature} ends`)
        const { value } = await cluster.chain.getSignatureStatus(signature, {
          searchTransactionHistory: true
        })
        t.equal(value === null, isDropped)
        t.match(
          last,
          isDropped
            ? { status: 'unknown', expired: true, slot: null }
            : { status: 'finalized', slot: value!.slot, err: null }
        )
        const { current_block_height: _, ...told } = last
        // The process that tracks it publishes the end while it stores it.
        await until(async () => {
          const { current_block_height: _, ...other } = await cluster.status(third, each.tenant, path)
          return isDeepStrictEqual(other, told)
        }, `each process tells the same of ${signature}`)
        const senders = cluster.sendersOf(signature)
        const rebroadcasts = Number(last['rebroadcasts'])
        // The last send of a process that is killed or fenced is possibly not stored.
        const least = senders.length - 1 - (new Set(senders).size > 1 ? 1 : 0)
        t.ok(
          rebroadcasts >= least && rebroadcasts < senders.length,
          `${rebroadcasts} rebroadcasts of ${senders.join()}`
        )
      }
      const count = cluster.receipts.length
      await sleep(PERIODS_MS)
      t.equal(cluster.receipts.length, count, 'nothing is sent after its end')
      for (const { service } of all) t.match(await service.end('SIGTERM'), { code: 0 })
    }
  )
)
