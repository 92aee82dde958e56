import { join } from 'node:path'
import t from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { IS_LONG } from '../random-runs.ts'
import { ownDirectory } from '../own-directory.ts'
import { faultsOf, slotOf, until } from './asking.ts'
import { makeBusyLocalnet, startLocalnetProcess } from './localnet-process.ts'
import type { ServiceProcess } from './service-process.ts'
import { CRASH_POINTS, Flapping, judgeReceiver, WebhookReceiver } from './webhook-receiver.ts'
import { addWebhook, allDelivered, CHANNELS, webhookKey } from './webhook-run.ts'

const SLOTS = IS_LONG ? 2_000 : 150
/** Kills at each crash point. */
const ROUNDS = IS_LONG ? 4 : 1
const FLAGS = ['--localnet-slot-ms', '100']
/** A chain that makes a slot in ten seconds: deliveries come to its head in between. */
const STANDING = ['--localnet-slot-ms', '10000']
const ENVIRONMENT = { MILLRACE_ALLOW_PRIVATE_WEBHOOKS: 'true' }

t.test(
  'a service that is killed around its POSTs: receivers have every event of the store but those announced as dropped',
  async (t) => {
    const dataDir = ownDirectory(t)
    await makeBusyLocalnet(dataDir)
    const start = (flags = FLAGS) => startLocalnetProcess(t, dataDir, flags, ENVIRONMENT)
    let service: ServiceProcess = await start()
    const flapping = new Flapping()
    const [steady, flappy] = await Promise.all([
      WebhookReceiver.start(t),
      WebhookReceiver.start(t, (post) => flapping.treat(post))
    ])
    const key = await webhookKey(service)
    const ids = [await addWebhook([service], key, steady), await addWebhook([service], key, flappy)]

    for (let round = 1; round <= ROUNDS; round++)
      for (const point of CRASH_POINTS) {
        await steady.atPoint(point, () => service.end('SIGKILL'))
        service = await start()
        t.comment(`killed when ${point}, at slot ${await slotOf(service)}`)
      }
    await until(async () => (await slotOf(service)) >= SLOTS, 'the slots')
    flapping.isOver = true
    t.match(await service.end('SIGTERM'), { code: 0 })
    service = await start(STANDING)
    await allDelivered([service], ids.length)
    const last = await slotOf(service)
    t.strictSame(
      faultsOf(service).filter((line) => !line.includes('MILLRACE_ALLOW_PRIVATE_WEBHOOKS')),
      []
    )
    t.match(await service.end('SIGTERM'), { code: 0 })
    const storage = await openEmbeddedStorage({ directory: join(dataDir, 'store') })
    t.teardown(() => storage.close())
    for (const [n, receiver] of [steady, flappy].entries())
      await judgeReceiver(t, receiver, { storage, id: ids[n]! }, CHANNELS, last)
    t.ok(
      steady.posts.some(({ repeats }) => repeats > 0),
      'a batch was repeated with its id'
    )
    t.equal(flapping.refused.size, 1)
  }
)
