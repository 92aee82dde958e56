import { join } from 'node:path'
import { mkdirSync } from 'node:fs'
import { Connection } from '@solana/web3.js'
import t from 'tap'
import type { TreeNode } from '../../actors/supervision/live-tree.ts'
import { closeConnection } from '../node/web3-flows.ts'
import { ownDirectory } from '../own-directory.ts'
import { IS_LONG } from '../random-runs.ts'
import { testWithCql } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { signedWire, transfer, wallet } from '../transactions/signed.ts'
import { faultsBesideOutages, leads, until } from './asking.ts'
import { clusterEnvironment, ownKeyspace } from './cluster.ts'
import { ledgerSlotIn } from './ledger-slot.ts'
import { startOwnLocalnet } from './own-localnet.ts'
import { StatedEnds } from './revenue-ends.ts'
import { endAtBalances, followEachOther, RevenueUser, totalsEqual } from './revenue-user.ts'
import { startProcess, type ServiceProcess } from './service-process.ts'

/** How the process that ingests ends, in turn. */
const ENDS = IS_LONG ? (['SIGTERM', 'SIGKILL', 'SIGKILL'] as const) : (['SIGTERM', 'SIGKILL'] as const)

testWithCql(t, 'the ledger on one CQL server', (t, server) =>
  testWithOwnRedis(
    t,
    'is whole when the process that ingests ends or dies, and another takes over',
    async (t, redis) => {
      const directory = ownDirectory(t)
      mkdirSync(join(directory, 'chain'))
      const net = await startOwnLocalnet(t, join(directory, 'chain'), 200)
      const chain = new Connection(net.rpcUrl, 'confirmed')
      t.teardown(() => closeConnection(chain))
      const environment = clusterEnvironment(server, ownKeyspace(t, server), redis.url)
      const more = ['--source', 'rpc', '--rpc-url', net.rpcUrl, '--rate-limit-per-minute', '1000000']
      let started = 0
      const start = async (...flags: readonly string[]): Promise<ServiceProcess> => {
        const dataDir = join(directory, `process-${++started}`)
        const service = await startProcess({
          dataDir,
          recordedDir: null,
          environment,
          more: [...more, ...flags]
        })
        t.teardown(async () => {
          if (service.child.exitCode === null && service.child.signalCode === null)
            await service.end('SIGKILL')
          if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(line)
        })
        return service
      }
      let first = await start()
      await until(() => leads(first), 'the first ingests')
      const gateway = await start('--role', 'gateway')
      const user = await RevenueUser.of(() => gateway.url, 'operator')
      const own = [1, 2].map((number) => wallet(number).publicKey.toBase58()) as [string, string]
      await chain.requestAirdrop(wallet(1).publicKey, 50_000_000_000)
      await until(async () => (await chain.getBalance(wallet(1).publicKey)) > 0, 'the airdrop')
      await user.watch(own[0])

      const ended = new AbortController()
      let lamports = 2_000_000n
      const traffic = (async () => {
        while (!ended.signal.aborted) {
          const { blockhash } = await chain.getLatestBlockhash()
          await chain.sendRawTransaction(signedWire([transfer(lamports++)], { blockhash }))
          await until(
            async () =>
              (await chain
                .getBlock(await chain.getSlot(), { maxSupportedTransactionVersion: 0 })
                .catch(() => null)) !== null,
            'a slot'
          )
        }
      })()
      const rowsCome = async (message: string): Promise<void> => {
        const before = (await user.rows()).at(-1)?.slot ?? 0
        await until(async () => ((await user.rows()).at(-1)?.slot ?? 0) > before + 5, message)
      }
      await rowsCome('the first rows')
      const heard = await user.hear(t)
      // The gateway never writes the ledger; the other process writes it, at once or after adopting it.
      const ends = new StatedEnds()
      const polling = new AbortController()
      t.teardown(() => polling.abort())
      const polled = ends.follow([user, new RevenueUser(() => first.url, user.key)], polling.signal)
      let allowed = await user.gaps()
      t.strictSame(allowed, [])
      for (const [index, signal] of ENDS.entries()) {
        const next = await start()
        // The next process may hear of this address only when it leads: its first blocks are then a gap.
        if (index === 0) await user.watch(own[1])
        await rowsCome(`rows before end ${index}`)
        t.equal(await leads(next), false)
        await first.end(signal)
        await until(() => leads(next), `process ${index + 2} takes over`)
        await rowsCome(`rows after end ${index}`)
        followEachOther(t, await user.rows(), await user.gaps(), `end ${index}`)
        if (index === 0) allowed = await user.gaps()
        first = next
      }
      polling.abort()
      await polled
      t.strictSame(ends.broken, [], 'no row comes at or before an end that an answer of any process stated')
      t.ok(ends.advances > ENDS.length, `${ends.advances} ends were stated`)
      ended.abort()
      await traffic
      const ledgerSlot = async (): Promise<number> =>
        ledgerSlotIn((await first.get('/v1/admin/tree')).body as unknown as TreeNode)
      for (const address of own) await endAtBalances(t, user, chain, address, ledgerSlot)
      await totalsEqual(t, user)
      const rows = await user.rows()
      t.strictSame(await user.gaps(), allowed, 'no block is missing that another process has read')
      const heardIds = new Set(heard.map(({ id }) => id))
      const from = rows.findIndex(({ id }) => heardIds.has(id))
      t.strictSame(
        rows.slice(from).filter(({ id }) => !heardIds.has(id)),
        [],
        'the gateway has told of every row'
      )
      for (const service of [first, gateway]) {
        t.strictSame(faultsBesideOutages(service), [])
        t.match(await service.end('SIGTERM'), { code: 0 })
      }
    }
  )
)
