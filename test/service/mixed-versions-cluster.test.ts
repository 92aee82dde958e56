import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { ownDirectory } from '../own-directory.ts'
import { testWithCql } from '../servers/cql.ts'
import { notShown } from '../servers/not-run.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { slotOf, until } from './asking.ts'
import { ChainFleet } from './chain-fleet.ts'
import { clusterEnvironment, ownKeyspace } from './cluster.ts'
import { judgeCourse } from './fleet-course.ts'
import { haveSlot, IndependentRecord } from './independent-record.ts'
import { hasOtherSchema, olderCommit, unpackVersion } from './older-version.ts'
import { openOwnLocalnet } from './own-localnet.ts'
import { RevenueUser } from './revenue-user.ts'
import { runMillrace, type ServiceProcess } from './service-process.ts'
import { TENANT } from './webhook-receiver.ts'
import { shardsOf } from './webhook-run.ts'

const SLOT_MS = 400
/** Slots before the first process starts, so that the store of each begins with the same block. */
const FIRST_SLOTS = 3
const ALL_SHARDS = 32
const MINT = pubkeyToBase58(NATIVE_MINT)
const NAME = 'the version before this one and this one, side by side on one keyspace'

const commit = olderCommit()
if (commit === null)
  notShown(t, NAME, 'the history of the sources is not here (a packed copy, or a shallow clone)')
else
  testWithCql(t, NAME, (t, server) =>
    testWithOwnRedis(
      t,
      'a rolling upgrade in the stated order loses and doubles no event, submission, ledger row or holder',
      async (t, redis) => {
        const isRaised = hasOtherSchema(commit)
        t.comment(`the older version is commit ${commit}${isRaised ? ', with another schema' : ''}`)
        const directory = ownDirectory(t)
        const older = unpackVersion(commit, directory)
        mkdirSync(join(directory, 'chain'))
        const chain = await openOwnLocalnet(t, join(directory, 'chain'), SLOT_MS, 'busy')
        const { net, grow, halt } = chain
        for (let made = 0; made < FIRST_SLOTS; made++) await net.bank.produceSlot()
        const keyspace = ownKeyspace(t, server)
        const fleet = new ChainFleet(t, {
          ...{ server, keyspace, redisUrl: redis.url, rpcUrl: net.rpcUrl, directory }
        })
        const witness = await fleet.startWitness()
        for (const role of ['ingest', 'delivery', 'gateway']) await fleet.start(`${role}, older`, role, older)
        await haveSlot([witness, ...fleet.named('')], net.bank.slot('confirmed'))
        grow()
        const record = await IndependentRecord.begin(t, net, fleet)
        const oneOf = (name: string): ServiceProcess => fleet.named(name)[0]!
        const isLed = async (version: string): Promise<boolean> =>
          fleet.nameOf(await fleet.holderOf('ingest', 'ingest')) === `ingest, ${version}`

        await judgeCourse(t, { fleet, witness, chain, record }, async () => {
          await record.goesOn('the older version alone')
          const delivery = await fleet.start('delivery, newer', 'delivery')
          await until(async () => (await shardsOf(delivery)) === ALL_SHARDS / 2, 'the newer one has a half')
          await fleet.start('ingest, newer', 'ingest')
          await fleet.start('gateway, newer', 'gateway')
          await haveSlot(fleet.named(''), await slotOf(oneOf('gateway, older')))
          t.equal(await isLed('older'), true, 'ingest stays with the older one')
          await record.goesOn('both versions, the older one ingests')
          await sameFacts('what the older one ingests')

          await record.lose('the newer delivery, by SIGKILL', () => delivery.end('SIGKILL'))
          const again = await fleet.start('delivery, newest', 'delivery')
          await until(async () => (await shardsOf(again)) === ALL_SHARDS / 2, 'it has a half')
          await record.lose('the older delivery, by SIGTERM', () => oneOf('delivery, older').end('SIGTERM'))
          await until(async () => (await shardsOf(again)) === ALL_SHARDS, 'the newer one delivers all')

          await record.lose('the older ingest, by SIGKILL', () => oneOf('ingest, older').end('SIGKILL'))
          await until(() => isLed('newer'), 'the newer one ingests')
          // A newer schema has tables that the older gateway does not read.
          if (!isRaised) {
            await sameFacts('what the newer one ingests')
            // As if the upgrade was undone half way.
            await fleet.start('ingest, undone', 'ingest', older)
            await record.lose('the newer ingest, by SIGKILL', () => oneOf('ingest, newer').end('SIGKILL'))
            await until(() => isLed('undone'), 'the older one ingests again')
            await sameFacts('what the older one ingests after the newer one')
            await fleet.start('ingest, again', 'ingest')
            await record.lose('the older ingest, by SIGTERM', () => oneOf('ingest, undone').end('SIGTERM'))
            await until(() => isLed('again'), 'the newer one ingests again')
          }
          await record.lose('the older gateway, by SIGTERM', () => oneOf('gateway, older').end('SIGTERM'))
        })
        if (isRaised) await refusesOlder()

        /** Checks that gateways of both versions have the same facts, while the chain stands still. */
        async function sameFacts(what: string): Promise<void> {
          await halt()
          const gateways = [oneOf('gateway, older'), oneOf('gateway, newer')]
          const slot = net.bank.slot('confirmed')
          await haveSlot(gateways, slot)
          const [first, second] = await Promise.all(gateways.map((gateway) => factsOf(gateway, slot)))
          t.ok(first!.trades.length > 20 && first!.ledger.length > 5, `${first!.trades.length} trades`)
          t.strictSame(second, first, `gateways of both versions serve ${what}`)
          grow()
        }

        /** A start of the older version is refused once a newer one has raised the schema (src/docs/upgrade.md). */
        async function refusesOlder(): Promise<void> {
          const environment = clusterEnvironment(server, keyspace, redis.url)
          const args = ['serve', '--source', 'rpc', '--rpc-url', net.rpcUrl, '--port', '0']
          const refused = await runMillrace(
            [...args, '--data-dir', join(directory, 'late')],
            environment,
            older
          )
          t.equal(refused.code, 1)
          t.match(refused.stderr, /has schema \d+, newer than/)
        }
      }
    )
  )

/** Trades, launches and rows of the ledger as a gateway serves them at a slot, by their places and amounts. */
async function factsOf(service: ServiceProcess, slot: number) {
  const trades: string[] = []
  for (let path: string | null = `/v1/tokens/${MINT}/trades?limit=100`; path !== null;) {
    const { body } = await service.get(path)
    for (const { cursor, signature, price } of body.data)
      trades.push([cursor, signature, price].map(String).join(' '))
    path =
      typeof body['nextCursor'] === 'string'
        ? `/v1/tokens/${MINT}/trades?limit=100&after=${body['nextCursor']}`
        : null
  }
  const { data } = (await service.get('/v1/launches?limit=100')).body
  const user = await RevenueUser.of(() => service.url, TENANT)
  const ledger = await until(async () => {
    const { rows, completeTo } = await user.ledger()
    return completeTo >= slot && rows.map(({ id, delta_raw, post_raw }) => `${id} ${delta_raw} ${post_raw}`)
  }, `the ledger up to slot ${slot}`)
  return { trades, launches: data.map(({ mint, cursor }) => `${String(mint)} ${String(cursor)}`), ledger }
}
