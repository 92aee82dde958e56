import t from 'tap'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { key, mintData } from '../accounts/account-data.ts'
import { answerAccounts } from '../accounts/account-rpc.ts'
import { FakeAccountNode } from '../accounts/fake-account-node.ts'
import { testWithFixtures } from '../fixtures.ts'
import { fakeNodes } from '../rpc/fake-rpc-node.ts'
import { testWithCql } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { faultsBesideOutages, linesWith, until } from './asking.ts'
import { clusterOf } from './cluster.ts'
import type { ServiceProcess } from './service-process.ts'

const BLOCKS = 5
const ROUNDS = 30
const MINTS = Array.from({ length: 10 }, (_, at) => key(at + 1))
const PATH = `/v1/metadata?mints=${MINTS.map(pubkeyToBase58).join(',')}`

testWithFixtures(t, 'gateways of a fleet', (t) =>
  testWithCql(t, 'on one CQL server', (t, server) =>
    testWithOwnRedis(t, 'read an account once for all, over Redis and without it', async (t, redis) => {
      const [node] = await fakeNodes(t, 1)
      const accounts = new FakeAccountNode()
      answerAccounts(node!, accounts)
      const moveTo = (slot: number): void => {
        node!.slot = slot
        for (const mint of MINTS)
          accounts.put(mint, {
            owner: TOKEN_PROGRAM_KEYS['spl-token'],
            data: mintData({ supply: BigInt(slot), decimals: 0 })
          })
      }
      const reads = (): number => node!.asked.filter((method) => method === 'getMultipleAccounts').length
      const { start } = await clusterOf(t, server, { redisUrl: redis.url, blocks: BLOCKS })
      const flags = ['--rpc-url', node!.url]
      const ingest = await start('--role', 'ingest')
      await ingest.said(/the source has no more blocks/)
      const gateways = [
        await start('--role', 'gateway', ...flags),
        await start('--role', 'gateway', ...flags),
        await start('--role', 'gateway', ...flags)
      ]
      /** Returns what a gateway says of the mints, without the age, which changes with the second of the clock. */
      const shownAt = async (service: ServiceProcess) => {
        // A server on a busy machine may be slow at any time.
        const body = await until(async () => {
          const answer = await service.get(PATH)
          return answer.status === 200 && answer.body
        }, 'it answers')
        return body.data.map(({ age_seconds: _, ...rest }) => rest)
      }
      const slotAt = async (service: ServiceProcess): Promise<number> =>
        Number((await shownAt(service))[0]?.['slot'])

      let differing = 0
      for (let round = 0; round < ROUNDS; round++) {
        moveTo(1_000 + round)
        const shown = await Promise.all(gateways.map(shownAt))
        if (new Set(shown.map((each) => JSON.stringify(each))).size > 1) differing++
      }
      const withRedis = reads()
      t.comment(`${differing} of ${ROUNDS} rounds had another reading at a gateway, with ${withRedis} reads`)
      // Readings that change between the answers of a round may be seen by one gateway alone.
      t.ok(differing <= withRedis, 'gateways differ no more often than accounts are read')

      await redis.kill()
      moveTo(2_000)
      const first = gateways[0]!
      await until(async () => (await slotAt(first)) === 2_000, 'it is read without Redis')
      const readsBefore = reads()
      await Promise.all(
        gateways.map((gateway) => until(async () => (await slotAt(gateway)) === 2_000, 'the others have it'))
      )
      t.comment(`${reads() - readsBefore} reads by the other gateways`)
      for (const gateway of gateways)
        t.ok(
          linesWith(gateway, 'readings of accounts are shared by the store') > 0,
          'the change is announced'
        )
      for (const service of [ingest, ...gateways]) {
        t.strictSame(faultsBesideOutages(service), [])
        t.match(await service.end('SIGTERM'), { code: 0 })
      }
    })
  )
)
