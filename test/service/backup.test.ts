import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { once } from 'node:events'
import t from 'tap'
import { fixturesDirectory, testWithFixtures } from '../fixtures.ts'
import { ownDirectory } from '../own-directory.ts'
import { answersOf } from './asking.ts'
import { runMillrace, spawnMillrace, startProcess } from './service-process.ts'

const DONE = /the source has no more blocks/

testWithFixtures(
  t,
  'a backup that was made beside a running service, through kills, gives the same answers when it is restored',
  async (t) => {
    const folder = ownDirectory(t)
    const [dataDir, into, restored] = ['data', 'backups', 'restored'].map((name) => join(folder, name)) as [
      string,
      string,
      string
    ]
    const recordedDir = fixturesDirectory()
    const service = await startProcess({ dataDir, recordedDir })
    await service.said(DONE)
    const answers = await answersOf(service)
    for (const ms of [300, 600, 900]) {
      const killed = spawnMillrace(['backup', into, '--data-dir', dataDir])
      const ended = once(killed, 'exit')
      await delay(ms)
      killed.kill('SIGKILL')
      await ended
    }
    t.match(await runMillrace(['backup', into, '--data-dir', dataDir]), { code: 0, stderr: '' })
    t.match(await runMillrace(['backup', into, '--data-dir', dataDir, '--keep', '1']), {
      code: 0,
      stdout: /shared with the backup before/
    })
    t.match(readdirSync(into), { length: 1 })
    t.match(await runMillrace(['restore', into, '--data-dir', dataDir]), {
      code: 1,
      stderr: /exists; move it away/
    })
    await service.end('SIGTERM')
    t.match(await runMillrace(['restore', into, '--data-dir', restored]), { code: 0, stderr: '' })
    const again = await startProcess({ dataDir: restored, recordedDir })
    await again.said(DONE)
    t.strictSame(await answersOf(again), answers)
    await again.end('SIGTERM')
    t.match(await runMillrace(['backup', into, '--keep', '0']), { code: 2 })
    t.match(await runMillrace(['backup', into, '--data-dir', join(folder, 'none')]), {
      code: 1,
      stderr: /there is no store/
    })
  }
)
