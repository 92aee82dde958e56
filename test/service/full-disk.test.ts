import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import { StartRefused } from '../../machines/start-refused.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { readConfig } from '../../src/configuration.ts'
import { openCoordination } from '../../src/store/coordination.ts'
import { storeDirectory } from '../../src/store/opening.ts'
import { PRODUCTS } from '../products/loaded-products.ts'
import { startService } from '../../src/service.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { notRun } from '../servers/not-run.ts'
import { runMillrace } from './service-process.ts'
import { canMount, smallDisk } from './small-disk.ts'

const STORE_OPENED = 'the disk is full at each page that a new store is opened with'
const STARTED = 'a full disk ends the start with 1 before keys are made, and one line names the setting'
const CHAIN_STARTED =
  "a full disk under a localnet's chain ends the start with 1, and one line names the directory"

/**
 * Starts the service, which must exit without a signal. Asserts exit code 1 and one line on standard error. Resolves with
 * its standard output.
 */
async function assertRefused(t: Test, args: readonly string[], line: RegExp): Promise<string> {
  const { stdout, stderr, code } = await runMillrace([
    'serve',
    '--port',
    '0',
    '--log-format',
    'json',
    ...args
  ])
  t.equal(code, 1, 'exit code')
  const told = stderr.split('\n').filter((each) => each.startsWith('millrace: '))
  t.equal(told.length, 1, 'one line says why')
  t.match(told[0], line)
  t.notMatch(stderr, /"stack"|\n\s+at /, 'no stack trace')
  return stdout
}

if (canMount()) {
  t.test(STORE_OPENED, async (t) => {
    let refused = 0
    for (let freeKb = 0; ; freeKb += 4) {
      const directory = smallDisk(t, '.', freeKb)
      try {
        await (await openEmbeddedStorage({ directory: join(directory, 'store') })).close()
        break
      } catch (error) {
        refused++
        t.ok(error instanceof ServiceError, `${freeKb} KB free: refused on purpose`)
        t.match(
          (error as ServiceError).detail,
          new RegExp(`${directory}/store cannot be opened: .*no space`, 'i')
        )
      }
    }
    t.ok(refused > 1, `${refused} sizes were too small`)
  })

  t.test(STARTED, async (t) => {
    for (const source of [[], ['--source', 'recorded', '--recorded-dir', t.testdir()]]) {
      // The directory is the disk's own, or is yet to be made on it.
      for (const under of ['.', 'data']) {
        const disk = smallDisk(t, '.', 8)
        const dataDir = join(disk, under)
        const line = new RegExp(`the disk of MILLRACE_DATA_DIR=${dataDir} is full: 0 MB are free`)
        t.equal(await assertRefused(t, [...source, '--data-dir', dataDir], line), '', 'nothing else is said')
        t.strictSame(readdirSync(disk), ['filler'], 'nothing is made')
      }
    }
  })

  t.test(CHAIN_STARTED, async (t) => {
    // Too little for the files beside the chain, for the engine, and for the market's past.
    for (const freeKb of [0, 12, 200]) {
      const dataDir = smallDisk(t, 'localnet', freeKb)
      await assertRefused(
        t,
        ['--data-dir', dataDir],
        new RegExp(`${dataDir}/localnet: the disk is full.*MILLRACE_DATA_DIR`)
      )
    }
  })
} else {
  for (const name of [STORE_OPENED, STARTED, CHAIN_STARTED]) notRun(t, name, 'no file system can be mounted')
}

t.test('a disk that is full when the first keys are stored refuses the start', async (t) => {
  const dataDir = t.testdir({ blocks: {} })
  const reading = readConfig(
    ['--source', 'recorded', '--recorded-dir', join(dataDir, 'blocks'), '--data-dir', dataDir, '--port', '0'],
    {}
  )
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  const { config } = reading
  const logger = pino({ enabled: false })
  const storage = await openEmbeddedStorage({ directory: storeDirectory(config) })
  const put = async (): Promise<never> => {
    const cause = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'a write failed', { cause })
  }
  const service = startService({
    products: PRODUCTS,
    config,
    logger,
    version: 'test',
    opened: {
      storage: { ...storage, documents: { ...storage.documents, put } },
      peers: await openCoordination(config, logger)
    },
    onFirstKeys: () => t.fail('no key was stored'),
    onListening: () => t.fail('the service never listens')
  })
  t.teardown(() => service.drain())
  const output = await service.done
  t.ok(output.kind === 'failed' && output.error instanceof StartRefused, 'refused, not restarted')
  if (output.kind === 'failed') t.match(output.error.message, `cannot write to ${dataDir}: the disk is full`)
})
