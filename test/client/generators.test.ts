import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { marketApp } from '../http/market-app.ts'
import { ROOT } from '../house/sources.ts'
import { ownDirectory } from '../own-directory.ts'
import { notShown } from '../servers/not-run.ts'

/** Tools that are installed once; they are too large for the packages of the house. */
const CACHE = join(process.env.TEST_SERVERS_CACHE ?? join(homedir(), '.cache/millrace-tests'), 'generators')
const TYPESCRIPT = 'openapi-typescript@7.13.0'
const PYTHON = 'openapi-python-client==0.29.1'
const GO = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'

/** Uses generated TypeScript as its readers do. */
const TYPED = `
import type { components, paths } from './api.ts'

type Trades = paths['/v1/tokens/{mint}/trades']['get']
const venue: NonNullable<Trades['parameters']['query']>['venue'] = 'pumpswap'
// @ts-expect-error there is no such venue
const none: NonNullable<Trades['parameters']['query']>['venue'] = 'nasdaq'
const page: Trades['responses'][200]['content']['application/json'] = { tenant: 'a', data: [], nextCursor: null }
const code: components['schemas']['Problem']['code'] = 'rate_limited'
console.log(venue, none, page.data[0]?.price, code)
`

/** Imports each module of the generated package, and reads a row with it. */
const IMPORTED = `
import importlib, pkgutil, sys
sys.path.insert(0, sys.argv[1])
import millrace_client
names = [name for _, name, _ in pkgutil.walk_packages(millrace_client.__path__, 'millrace_client.')]
for name in names: importlib.import_module(name)
from millrace_client.models import Problem
problem = {'type': '/problems/rate-limited', 'title': 'x', 'status': 429, 'detail': 'd', 'code': 'rate_limited', 'request_id': 'r'}
assert Problem.from_dict(problem).to_dict() == problem
print(len(names))
`

const run = promisify(execFile)
const bin = join(CACHE, 'bin')
const python = join(CACHE, 'python/bin/python')
const typescript = join(CACHE, 'node_modules/openapi-typescript/bin/cli.js')

mkdirSync(CACHE, { recursive: true })
const installed = {
  typescript: await isMade(typescript, [
    'npm',
    'install',
    '--prefix',
    CACHE,
    '--no-audit',
    '--no-fund',
    TYPESCRIPT
  ]),
  python:
    (await isMade(python, ['python3', '-m', 'venv', join(CACHE, 'python')])) &&
    (await isMade(join(CACHE, 'python/bin/openapi-python-client'), [
      python,
      '-m',
      'pip',
      '-q',
      'install',
      PYTHON
    ])),
  go: await isMade(join(bin, 'oapi-codegen'), ['go', 'install', GO], { GOBIN: bin })
}

/** Returns whether a file exists, if need be after a command that makes it. */
async function isMade(
  file: string,
  [program, ...args]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>> = {}
): Promise<boolean> {
  if (existsSync(file)) return true
  await run(program, args, { env: { ...process.env, ...environment } }).catch(() => undefined)
  return existsSync(file)
}

/** Writes the served document into a new folder. */
async function documentIn(t: Test): Promise<{ readonly folder: string; readonly document: string }> {
  const app = await marketApp(t)
  const folder = join(ownDirectory(t), 'generated')
  mkdirSync(folder, { recursive: true })
  const document = join(folder, 'openapi.json')
  writeFileSync(document, (await app.get('/openapi.json', {})).text)
  return { folder, document }
}

/** Runs a program. Rejects with all that it printed. */
async function output(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout, stderr } = await run(program, args, { cwd, maxBuffer: 64 * 2 ** 20 }).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => {
      throw new Error(`${program} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`)
    }
  )
  return `${stdout}${stderr}`
}

const IN_TYPESCRIPT = 'openapi-typescript makes types that compile'
if (!installed.typescript) notShown(t, IN_TYPESCRIPT, `${TYPESCRIPT} cannot be installed`)
else
  t.test(IN_TYPESCRIPT, async (t) => {
    const { folder, document } = await documentIn(t)
    await output(process.execPath, [typescript, document, '-o', join(folder, 'api.ts')], folder)
    writeFileSync(join(folder, 'typed.ts'), TYPED)
    const compilerOptions = {
      ...{ noEmit: true, strict: true, target: 'es2022', module: 'nodenext', lib: ['es2022', 'dom'] },
      ...{ types: [], allowImportingTsExtensions: true }
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }))
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    await t.resolves(output(process.execPath, [tsc, '-p', folder], folder))
  })

const IN_PYTHON =
  'openapi-python-client makes a package whose modules can be imported, each operation among them'
if (!installed.python) notShown(t, IN_PYTHON, `${PYTHON} cannot be installed`)
else
  t.test(IN_PYTHON, async (t) => {
    const { folder, document } = await documentIn(t)
    writeFileSync(join(folder, 'config.yml'), 'package_name_override: millrace_client\npost_hooks: []\n')
    const generator = join(CACHE, 'python/bin/openapi-python-client')
    const args = ['generate', '--path', document, '--config', join(folder, 'config.yml')]
    const said = await output(generator, [...args, '--output-path', join(folder, 'client')], folder)
    // It has no type for the bytes of an image, and says so; the operation is there.
    const others = said.replace(
      /^Warning\(s\)[^]*?^WARNING parsing GET \/v1\/tokens\/\{mint\}\/image [^]*$/m,
      ''
    )
    t.notMatch(others, /warning|error/i, 'no operation is left out')
    t.equal(said.match(/WARNING parsing/g)?.length, 1)
    writeFileSync(join(folder, 'imported.py'), IMPORTED)
    const modules = await output(python, [join(folder, 'imported.py'), join(folder, 'client')], folder)
    t.ok(Number(modules) > 300, `${modules} modules`)
  })

const IN_GO = 'oapi-codegen makes a client that passes go vet'
if (!installed.go) notShown(t, IN_GO, 'there is no Go toolchain, or oapi-codegen cannot be installed with it')
else
  t.test(IN_GO, async (t) => {
    const { folder, document } = await documentIn(t)
    const generated = await output(
      join(bin, 'oapi-codegen'),
      ['-generate', 'types,client', '-package', 'api', document],
      folder
    )
    writeFileSync(join(folder, 'api.go'), generated)
    writeFileSync(join(folder, 'go.mod'), 'module example.com/api\n\ngo 1.24\n')
    await output('go', ['mod', 'tidy'], folder)
    await t.resolves(output('go', ['vet', './...'], folder))
    t.match(generated, 'func (c *Client) GetTokensByMintTrades(')
  })
