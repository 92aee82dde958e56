import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../house/sources.ts'

/** Imports the modules of a start, as `millrace.js` does, and prints the loaded modules: those of Node, and of packages. */
const SCRIPT = `
  import { registerHooks } from 'node:module'
  const loaded = new Set()
  registerHooks({ load: (url, context, next) => (loaded.add(url), next(url, context)) })
  await import(${JSON.stringify(join(ROOT, 'src/kernel/cli/compile-cache.js'))})
  await import(${JSON.stringify(join(ROOT, 'src/main.ts'))})
  await import(${JSON.stringify(join(ROOT, 'src/edge/commands/serve.ts'))})
  const { PROGRAM } = await import(${JSON.stringify(join(ROOT, 'src/program.ts'))})
  await PROGRAM.configuration()
  await PROGRAM.products()
  console.log(JSON.stringify([...process.moduleLoadList, ...loaded]))`

function modulesOfStart(): string[] {
  const args = ['--input-type=module', '-e', SCRIPT, '--', '--version']
  // The tests have a cache of compiled code of their own.
  const env = { ...process.env, NODE_COMPILE_CACHE: undefined }
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
  const line = stdout.split('\n').find((each) => each.startsWith('['))
  if (line === undefined) throw new Error(stderr)
  return (JSON.parse(line) as string[]).map((each) => each.split('/node_modules/').at(-1)!)
}

t.test('the cache of compiled code lies with the packages of the installation', async (t) => {
  const script = `
    import { getCompileCacheDir } from 'node:module'
    await import(${JSON.stringify(join(ROOT, 'src/kernel/cli/compile-cache.js'))})
    console.log(getCompileCacheDir())`
  const env = { ...process.env, NODE_COMPILE_CACHE: undefined }
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env
  })
  t.ok(stdout.startsWith(join(ROOT, 'node_modules/.cache/millrace/')), stdout)
})

t.test('a start loads no compiler, no second fetch and no driver that it does not use', async (t) => {
  // The first of an installation compiles.
  modulesOfStart()
  const loaded = modulesOfStart()
  t.ok(loaded.includes('fastify/fastify.js'))
  for (const name of [
    'NativeModule internal/deps/amaro/dist/index',
    'NativeModule internal/deps/undici/undici',
    'cassandra-driver',
    'ioredis',
    '@solana/kit',
    '@solana/web3.js',
    '@matrixai/quic',
    '@triton-one/yellowstone-grpc',
    'undici/index.js'
  ])
    t.same(
      loaded.filter((each) => each.startsWith(name)),
      [],
      name
    )
})
