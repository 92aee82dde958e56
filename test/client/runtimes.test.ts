import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { WSOL } from '../../src/market/cash.ts'
import { ownDirectory } from '../own-directory.ts'
import { notShown } from '../servers/not-run.ts'
import { startBusyLocalnetProcess } from '../service/localnet-process.ts'
import { ADMIN_KEY } from '../service/service-process.ts'
import { VECTOR } from '../webhooks/webhooks-page.ts'
import { installPackedClient } from './packed-client.ts'
import { READ, READER } from './reader-program.ts'

/** Runtimes besides Node, as npm has them for Linux: 40 to 100 MB each, so they are installed once. */
const CACHE = join(process.env.TEST_SERVERS_CACHE ?? join(homedir(), '.cache/millrace-tests'), 'runtimes')
const RUNTIMES = [
  { name: 'Bun', package: '@oven/bun-linux-x64', version: '1.4.5', program: 'bin/bun', run: ['run'] },
  {
    ...{ name: 'Deno', package: '@deno/linux-x64-glibc', version: '2.9.6', program: 'deno' },
    run: ['run', '--allow-all', '--node-modules-dir=manual']
  }
] as const

const VERIFIER = `
import { verify } from 'millrace/webhooks'
const vector = JSON.parse(process.argv[2])
const { webhook_id } = await verify(vector, vector.body, vector.secret, { nowMs: Number(vector['X-MR-Timestamp']) })
console.log(webhook_id)
`

const project = await installPackedClient(t)
mkdirSync(CACHE, { recursive: true })
if (process.platform === 'linux' && process.arch === 'x64') {
  const packages = RUNTIMES.map(({ package: name, version }) => `${name}@${version}`)
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--force', '--prefix', CACHE]
  const missing = RUNTIMES.some(
    ({ package: name, program }) => !existsSync(join(CACHE, 'node_modules', name, program))
  )
  if (missing) await project.run('npm', [...args, ...packages]).catch(() => undefined)
}
const service = await startBusyLocalnetProcess(t, ownDirectory(t), ['--localnet-slot-ms', '50'])
project.write('reader.js', READER)
project.write('verifier.js', VERIFIER)

for (const { name, package: packed, version, program, run } of RUNTIMES) {
  const path = join(CACHE, 'node_modules', packed, program)
  const title = `the client reads the stream and REST, and verifies deliveries, on ${name} ${version}`
  if (!existsSync(path)) notShown(t, title, `${packed} cannot be installed from npm`)
  else
    t.test(title, async (t) => {
      const printed = await project.run(path, [...run, 'reader.js', service.url, ADMIN_KEY, WSOL])
      t.strictSame(JSON.parse(printed), { version, ...READ })
      t.equal(await project.run(path, [...run, 'verifier.js', JSON.stringify(VECTOR)]), '42\n')
    })
}
