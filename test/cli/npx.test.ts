import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { ROOT } from '../house/sources.ts'
import { ownDirectory } from '../own-directory.ts'

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }

/** Starts a command in a clone by npx, with a cache of its own and no network. */
function startNpx(clone: string, args: readonly string[]) {
  return spawn('npx', ['--yes', '--offline', 'millrace', ...args], {
    cwd: clone,
    detached: true,
    env: { ...process.env, npm_config_cache: join(clone, 'npm-cache'), npm_config_update_notifier: 'false' }
  })
}

t.test('npx finds the command of a clone after npm ci, even if its first call was interrupted', async (t) => {
  const clone = ownDirectory(t)
  copyFileSync(join(ROOT, 'package.json'), join(clone, 'package.json'))
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  // Nothing listens on port 1, so the command retries until it is interrupted.
  const first = startNpx(clone, ['tail', 'launches', '--url', 'http://127.0.0.1:1', '--key', 'mr_live_x'])
  await Promise.race([once(first.stderr, 'data'), once(first.stdout, 'data'), once(first, 'exit')])
  process.kill(-first.pid!, 'SIGINT')
  await once(first, 'close')
  const second = startNpx(clone, ['--version'])
  const [stdout, stderr, [code]] = await Promise.all([
    text(second.stdout),
    text(second.stderr),
    once(second, 'exit') as Promise<[number | null]>
  ])
  t.strictSame([code, stdout.includes(version), stderr], [0, true, ''])
  t.notOk(existsSync(join(clone, 'npm-cache', '_npx')), 'nothing is installed into the cache')
})
