import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '@solana/web3.js'
import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { ownDirectory } from '../own-directory.ts'
import { signedWire, toBase64, transfer, wallet } from '../transactions/signed.ts'
import { until } from './asking.ts'
import { startOwnLocalnet } from './own-localnet.ts'
import { RecordingNode } from './recording-node.ts'
import { ADMIN_KEY, startProcess } from './service-process.ts'

/** A blockhash lives for 150 slots: 30 s, of which both nodes are unreachable for twenty. */
const SLOT_MS = 200
const AWAY_MS = 20_000
/** Slots by which a node is behind, and heights by which its answer is wrong: more than the life of a blockhash. */
const FAR = 300

interface Sent {
  readonly fault: string
  readonly signature: string
  readonly lastHeight: number
  /** Whether no node passes it on, so that it cannot land. */
  readonly isDropped: boolean
}

interface EpochInfo {
  readonly absoluteSlot: number
  readonly blockHeight: number
}

/** Returns the answer of a node that is at another slot and height; none is below zero. */
const moved = (info: EpochInfo, slots: number, heights: number): EpochInfo => ({
  ...info,
  absoluteSlot: Math.max(0, info.absoluteSlot + slots),
  blockHeight: Math.max(0, info.blockHeight + heights)
})

t.test(
  'beside faults of chain and nodes nothing that can land is given up, and each send is counted',
  async (t) => {
    const dataDir = ownDirectory(t)
    for (const name of ['chain', 'service']) mkdirSync(`${dataDir}/${name}`)
    const net = await startOwnLocalnet(t, `${dataDir}/chain`, SLOT_MS)
    const nodes = [
      await RecordingNode.start(t, net.rpcUrl),
      await RecordingNode.start(t, net.rpcUrl)
    ] as const
    const chain = new Connection(net.rpcUrl, 'confirmed')
    await chain.requestAirdrop(wallet(1).publicKey, 1_000_000_000)
    const service = await startProcess({
      dataDir: `${dataDir}/service`,
      recordedDir: null,
      more: ['--source', 'rpc', '--rpc-url', nodes.map(({ url }) => url).join(',')],
      environment: { MILLRACE_TPU: 'off' }
    })
    t.teardown(() => service.end('SIGTERM'))
    const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const answer = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      if (!answer.ok) throw new Error(await answer.text())
      return (await answer.json()) as Record<string, unknown>
    }
    await until(async () => (await service.get('/v1/health', null)).status === 200, 'the service has blocks')
    const { key } = await post('/v1/admin/keys', {
      tenant: 'operator',
      scopes: ['tx:send'],
      rate_limit_per_minute: 1_000_000
    })
    headers['x-api-key'] = String(key)
    const statusOf = async (signature: string) =>
      (await service.get(`/v1/tx/${signature}/status`, String(key))).body as Record<string, unknown>

    const sent: Sent[] = []
    // More than the rent of a new account.
    let lamports = 1_000_000n
    /** Sends a transaction that can land and one that cannot. */
    const send = async (fault: string): Promise<void> => {
      const { blockhash, lastValidBlockHeight: lastHeight } = await chain.getLatestBlockhash('confirmed')
      for (const isDropped of [false, true]) {
        const wire = signedWire([transfer(lamports++)], { blockhash })
        const signature = encodeBase58(wire.subarray(1, 65))
        if (isDropped) for (const node of nodes) node.dropped.add(signature)
        await post('/v1/tx/send', { tx: toBase64(wire) })
        sent.push({ fault, signature, lastHeight, isDropped })
      }
    }

    const { faults } = net.bank
    await send('none')
    faults.skip(8)
    await send('skipped slots')
    await until(async () => faults.fired.skips === 8, 'slots are skipped')

    let lies = 0
    nodes[0].rewrite = (method, result) => {
      if (method !== 'getEpochInfo') return result
      lies++
      return moved(result as EpochInfo, 0, FAR)
    }
    await send('a node lies about its height')
    await until(async () => lies > 2, 'it was asked')
    nodes[0].rewrite = null

    let late = 0
    nodes[1].rewrite = (method, result) => {
      if (!['getSlot', 'getEpochInfo', 'getSignatureStatuses'].includes(method)) return result
      late++
      if (method === 'getSlot') return Math.max(0, (result as number) - FAR)
      if (method === 'getEpochInfo') return moved(result as EpochInfo, -FAR, -FAR)
      const { context, value } = result as { context: { slot: number }; value: unknown[] }
      return { context: { ...context, slot: Math.max(0, context.slot - FAR) }, value: value.map(() => null) }
    }
    await send('a node lags')
    await sleep(4_000)
    await until(async () => late > 0, 'its answers are late')
    t.ok(late > 0, 'its answers were late')
    nodes[1].rewrite = null

    await send('a fork')
    const [forked] = sent.slice(-2)
    await until(async () => (await statusOf(forked!.signature))['slot'] !== null, 'it is in a block')
    faults.fork('drop')
    await until(async () => faults.fired.forks === 1, 'that block or a later one is dropped')

    for (const node of nodes) node.isAway = true
    const awayAt = Date.now()
    const { blockhash, lastValidBlockHeight: lastHeight } = await chain.getLatestBlockhash('confirmed')
    const wire = signedWire([transfer(lamports++)], { blockhash })
    const signature = encodeBase58(wire.subarray(1, 65))
    await post('/v1/tx/send', { tx: toBase64(wire) })
    sent.push({ fault: 'both nodes are away', signature, lastHeight, isDropped: false })
    while (Date.now() - awayAt < AWAY_MS) {
      for (const each of sent) {
        const { expired } = await statusOf(each.signature)
        if (expired === true) t.ok((await chain.getBlockHeight('processed')) > each.lastHeight, each.fault)
      }
      await sleep(500)
    }
    for (const node of nodes) node.isAway = false

    for (const { fault, signature, lastHeight, isDropped } of sent) {
      const last = await until(async () => {
        const now = await statusOf(signature)
        if (now['expired'] === true)
          t.ok((await chain.getBlockHeight('processed')) > lastHeight, `${fault}: not before its end`)
        return now['expired'] === true || now['status'] === 'finalized' ? now : null
      }, `${fault}: ${signature} ends`)
      const { value } = await chain.getSignatureStatus(signature, { searchTransactionHistory: true })
      t.equal(value === null, isDropped, `${fault}: it has landed unless no node passed it on`)
      t.match(
        last,
        isDropped ? { expired: true, tracking: false } : { status: 'finalized', slot: value?.slot },
        fault
      )
      const received = nodes.flatMap((node) => node.sendsOf(signature)).length
      t.equal(last['rebroadcasts'], received - 1, `${fault}: each send was received once`)
    }
  }
)
