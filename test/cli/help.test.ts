import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Command } from '../../src/kernel/cli/command.ts'
import { PROGRAM } from '../../src/program.ts'
import { run } from '../../src/kernel/cli/run.ts'
import { SETTING_NAMES, SETTINGS } from '../../src/configuration.ts'
import { flagOf, variableOf } from '../../src/kernel/config/config.ts'
import { version } from '../../src/version.ts'
import { ROOT } from '../house/sources.ts'
import { runMillrace } from '../service/service-process.ts'

type Named = readonly [words: readonly string[], command: Command]
/** Every command with the words that name it. */
const commands = Object.entries(PROGRAM.commands).flatMap(([name, found]): readonly Named[] =>
  'verbs' in found
    ? Object.entries(found.verbs).map(([verb, command]): Named => [[name, verb], command])
    : [[[name], found]]
)

async function millrace(...words: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await run(
    words,
    {
      stdout: (line) => void out.push(line),
      stderr: (line) => void err.push(line),
      stdin: process.stdin,
      yieldProcessor: () => undefined,
      interrupted: new AbortController().signal
    },
    PROGRAM
  )
  return { code, out: out.join('\n'), err: err.join('\n') }
}

t.test(
  'every command has help with each of its options, its settings and an example that it takes',
  async (t) => {
    t.ok(commands.length >= 13)
    for (const [words, { options = {}, settings, examples, summary }] of commands) {
      const name = words.join(' ')
      const { code, out, err } = await millrace(...words, '--help')
      t.match([code, err], [0, ''], name)
      t.ok(out.startsWith(`usage: millrace ${name}`), name)
      t.match(out, summary)
      for (const [option, { meaning }] of Object.entries(options)) {
        t.match(out, `--${option}`)
        t.match(out, meaning)
      }
      for (const setting of settings === 'all' ? SETTING_NAMES : settings) {
        t.match(out, `--${flagOf(setting)} VALUE  [${variableOf(setting)}]`)
        const { fallback } = SETTINGS[setting]
        // A line may end between the two words.
        if (fallback !== '')
          t.match(out.replaceAll(/\s+/g, ' '), `default: ${fallback}`, `${name}: ${setting}`)
      }
      for (const example of examples) {
        t.match(out, example)
        // With an unknown flag added, only that flag is refused.
        const [program, ...line] = example.split(' ')
        t.equal(program, 'millrace')
        t.same(line.slice(0, words.length), words)
        const refused = await millrace(...line, '--no-such-flag')
        t.equal(refused.code, 2)
        t.equal(
          refused.err,
          `millrace: --no-such-flag is unknown; \`millrace ${name} --help\` lists the options`
        )
      }
      t.ok(examples.length > 0, `${name} has an example`)
      t.same(await millrace('help', ...words), { code, out, err }, `help ${name}`)
      t.same(await millrace(...words, '-h'), { code, out, err })
      const clashes = Object.keys(options).filter((option) =>
        (settings === 'all' ? SETTING_NAMES : settings).some((setting) => flagOf(setting) === option)
      )
      t.same(clashes, [], `${name} has no option twice`)
    }
  }
)

t.test('the list of commands names each, and a noun its verbs', async (t) => {
  const { code, out } = await millrace('--help')
  t.equal(code, 0)
  for (const [name, { summary }] of Object.entries(PROGRAM.commands))
    t.match(out, new RegExp(`^  ${name} +${summary}$`, 'm'))
  t.same(await millrace('help'), { code, out, err: '' })
  const keys = await millrace('keys', '--help')
  t.equal(keys.code, 0)
  for (const verb of ['list', 'create', 'rotate', 'revoke']) t.match(keys.out, `keys ${verb}`)
  t.match(await millrace(), { code: 2, out: '', err: /usage: millrace COMMAND/ })
})

t.test('a word that is no command, verb or option ends with 2 and names the nearest', async (t) => {
  const cases: [words: string[], line: string][] = [
    [['srve'], 'there is no command "srve" (did you mean serve?)'],
    [['constructor'], 'there is no command "constructor"'],
    [['keys', 'rotat'], 'there is no command keys "rotat" (did you mean rotate?)'],
    [['serve', '--prot', '1'], '--prot is unknown (did you mean --port?)'],
    [['serve', '--data_dir', 'x'], '--data_dir is unknown (did you mean --data-dir?)'],
    [['verify', '--colour'], '--colour is unknown'],
    [['tail', 'launches', '--json=yes'], '--json takes no value'],
    [['tail', 'launches', '--since'], '--since has no value'],
    [['tail', 'launches', '--since', '--json'], '--since has no value'],
    [['keys', 'rotate'], 'ID is missing'],
    [['serve', 'now'], '"now" is one argument too many']
  ]
  for (const [words, line] of cases) {
    const { code, out, err } = await millrace(...words)
    t.same([code, out], [2, ''], words.join(' '))
    t.match(err.split('\n')[0], new RegExp(`^millrace: ${line.replaceAll(/[()?"]/g, '\\$&')}(; .*)?$`))
  }
})

t.test('the version and help of the program end with 0, and load nothing else before', async (t) => {
  t.match(await runMillrace(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' })
  t.match(await runMillrace(['--help']), { code: 0, stdout: /serve +Runs the service/, stderr: '' })
  const loaded = new Set<string>()
  const load = (path: string): void => {
    if (loaded.has(path)) return
    loaded.add(path)
    if (!path.endsWith('.ts')) return
    const text = readFileSync(join(ROOT, path), 'utf8')
    for (const [, from] of text.matchAll(/^import (?!type\b)[^']*'([^']+)'/gm))
      load(from!.startsWith('.') ? join(path, '..', from!) : from!)
  }
  load('src/main.ts')
  t.same([...loaded].sort(), [
    'node:util',
    'src/access/commands.ts',
    'src/archive/commands.ts',
    'src/capacity/commands.ts',
    'src/capacity/inputs.ts',
    'src/data/commands.ts',
    'src/edge/commands.ts',
    'src/fleet/commands.ts',
    'src/ingest/commands.ts',
    'src/kernel/cli/command.ts',
    'src/kernel/cli/run.ts',
    'src/kernel/cli/usage.ts',
    'src/kernel/config/flags.ts',
    'src/kernel/config/listed-products.ts',
    'src/kernel/product-row.ts',
    'src/main.ts',
    'src/products.ts',
    'src/program-accounts/commands.ts',
    'src/program.ts',
    'src/revenue/commands.ts',
    'src/rpc/commands.ts',
    'src/store/commands.ts',
    'src/stream/commands.ts',
    'src/transactions/commands.ts',
    'src/webhooks/commands.ts'
  ])
})
