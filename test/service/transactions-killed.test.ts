import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '@solana/web3.js'
import t from 'tap'
import { WebSocket } from 'ws'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { ownDirectory } from '../own-directory.ts'
import { IS_LONG } from '../random-runs.ts'
import { signedWire, toBase64, transfer, wallet } from '../transactions/signed.ts'
import { until } from './asking.ts'
import { startOwnLocalnet } from './own-localnet.ts'
import { RecordingNode } from './recording-node.ts'
import { ADMIN_KEY, startProcess, type ServiceProcess } from './service-process.ts'

/** Points at which the service is killed: milliseconds after the POST was sent, or the node's last action. */
const POINTS = [0, 5, 15, 40, 'received', 'passed', 'answered'] as const
const ROUNDS = IS_LONG ? 8 : 1
/** A short slot: a block is finalized after 3 s, and a blockhash expires after 15 s. */
const SLOT_MS = 100

t.test(
  'a service that is killed around its sends forgets no transaction that it answered for, and sends none after its end',
  async (t) => {
    const dataDir = ownDirectory(t)
    for (const name of ['chain', 'service']) mkdirSync(`${dataDir}/${name}`)
    const net = await startOwnLocalnet(t, `${dataDir}/chain`, SLOT_MS)
    const node = await RecordingNode.start(t, net.rpcUrl)
    const chain = new Connection(net.rpcUrl, 'confirmed')
    await chain.requestAirdrop(wallet(1).publicKey, 1_000_000_000)
    const more = ['--source', 'rpc', '--rpc-url', node.url, '--rate-limit-per-minute', '1000000']
    const environment = { MILLRACE_TPU: 'off' }
    const start = async (): Promise<ServiceProcess> => {
      const started = await startProcess({
        dataDir: `${dataDir}/service`,
        recordedDir: null,
        more,
        environment
      })
      t.teardown(() => started.child.exitCode ?? started.child.signalCode ?? started.child.kill('SIGKILL'))
      return started
    }
    let service = await start()
    const key = await until(async () => {
      const made = await fetch(`${service.url}/v1/admin/keys`, {
        method: 'POST',
        headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({
          tenant: 'operator',
          scopes: ['tx:send', 'stream'],
          rate_limit_per_minute: 1_000_000
        })
      })
      if (made.status !== 503 && !made.ok) throw new Error(await made.text())
      return made.ok ? ((await made.json()) as { key: string }).key : null
    }, 'a key')
    const status = async (signature: string): Promise<Record<string, unknown>> => ({
      ...(await service.get(`/v1/tx/${signature}/status`, key)).body
    })

    const submitted: { signature: string; isAnswered: boolean; isDropped: boolean; lastHeight: number }[] = []
    /** Heights of the chain after the node first passed signatures on to it. */
    const passedAt = new Map<string, Promise<number>>()
    // More than the rent of a new account.
    let lamports = 1_000_000n
    for (let round = 0; round < ROUNDS; round++)
      for (const point of POINTS) {
        const { blockhash, lastValidBlockHeight: lastHeight } = await chain.getLatestBlockhash('confirmed')
        const wire = signedWire([transfer(lamports++)], { blockhash })
        const signature = encodeBase58(wire.subarray(1, 65))
        const isDropped = submitted.length % 2 === 1
        if (isDropped) node.dropped.add(signature)
        const kill = (): boolean => service.child.kill('SIGKILL')
        node.onSend = (now, of) => {
          if (now === 'passed' && !passedAt.has(of)) passedAt.set(of, chain.getBlockHeight('processed'))
          if (now === point && of === signature) kill()
        }
        const asked = fetch(`${service.url}/v1/tx/send`, {
          method: 'POST',
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
          body: JSON.stringify({ tx: toBase64(wire) })
        }).then(
          ({ ok }) => ok,
          () => false
        )
        if (typeof point === 'number') await sleep(point).then(kill)
        const isAnswered = await asked
        if (point === 'answered') kill()
        await service.end('SIGKILL')
        submitted.push({ signature, isAnswered, isDropped, lastHeight })
        t.comment(`killed ${typeof point === 'number' ? `${point} ms after the POST` : point}: ${isAnswered}`)
        service = await start()
      }
    t.ok(
      submitted.some(({ isAnswered }) => isAnswered),
      'some were answered for'
    )

    const landed = new Set<string>()
    for (const { signature, isAnswered, isDropped, lastHeight } of submitted) {
      const isOver = ({ status: state, expired }: Record<string, unknown>): boolean =>
        expired === true || state === 'finalized'
      if (
        !isAnswered &&
        node.sendsOf(signature).length === 0 &&
        ((await status(signature))['route'] ?? null) === null
      )
        continue
      const last = await until(async () => {
        const now = await status(signature)
        return isOver(now) ? now : null
      }, `${signature} ends`)
      const found = await chain.getSignatureStatus(signature, { searchTransactionHistory: true })
      if (found.value === null) {
        // Also one that a busy machine sent for the first time after the life of its blockhash.
        t.ok(isDropped || (await passedAt.get(signature))! >= lastHeight, `${signature} could not land`)
        t.match(last, { status: 'unknown', expired: true, tracking: false, slot: null })
      } else {
        landed.add(signature)
        t.match(last, { status: 'finalized', slot: found.value.slot, err: null, tracking: false })
      }
      if (isAnswered) t.equal(last['route'], 'node', `the record of ${signature} is there`)
      const sends = node.sendsOf(signature)
      t.ok(sends.length > 0, 'it was sent')
      t.ok((last['rebroadcasts'] as number) <= sends.length - 1)
    }
    const count = node.sends.length
    await sleep(2_500)
    t.equal(node.sends.length, count, 'nothing is sent after its end')

    const changes = await changesOf(service, key)
    const half = changes[Math.floor(changes.length / 2)]!
    t.same(await changesOf(service, key, half.cursor), changes.slice(changes.indexOf(half) + 1), 'the rest')
    for (const { signature } of submitted.filter(({ isAnswered }) => isAnswered)) {
      const own = changes.filter(({ data }) => data.signature === signature)
      const known = own.map(({ data }) => JSON.stringify([data.event, data.slot, data.commitment]))
      t.ok(
        known.every((each, at) => each !== known[at - 1]),
        `each change of ${signature} is told once`
      )
      t.equal(own.filter(({ data }) => ['finalized', 'expired', 'failed'].includes(data.event)).length, 1)
      t.equal(own.at(-1)?.data.event, landed.has(signature) ? 'finalized' : 'expired')
    }
    t.match(await service.end('SIGTERM'), { code: 0 })
  }
)

interface Change {
  readonly cursor: number
  readonly data: {
    readonly signature: string
    readonly event: string
    readonly slot: number
    readonly commitment: string
  }
}

/** Returns the changes that a client of `ws` is replayed after a cursor. */
async function changesOf(service: ServiceProcess, key: string, since = 0): Promise<Change[]> {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/stream?key=${key}`)
  const changes: Change[] = []
  const complete = new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; replay?: boolean } & Change
      if (message.type === 'event' && message.replay === true) changes.push(message)
      if (message.type === 'replay_complete') resolve()
    })
  })
  socket.once('open', () => socket.send(JSON.stringify({ subscribe: ['tx'], since })))
  await complete
  socket.terminate()
  return changes
}
