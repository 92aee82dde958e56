import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { createMillrace } from '../../src/client/client.ts'
import { ROOT } from '../house/sources.ts'

const readme = readFileSync(join(ROOT, 'src/client/README.md'), 'utf8')
const client = (name: string): string => join(ROOT, 'src/client', name)

/** Files whose exports are described as a group: the generated types, and the events. */
const GROUPS = ['api.ts', 'events.ts']

t.test('every export has a comment, and its place in the README', async (t) => {
  const program = ts.createProgram([client('client.ts'), client('webhooks.ts')], {
    noEmit: true,
    allowImportingTsExtensions: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    types: ['node']
  })
  const checker = program.getTypeChecker()
  const entry = checker.getSymbolAtLocation(program.getSourceFile(client('client.ts'))!)!
  const exported = checker.getExportsOfModule(entry)
  t.ok(exported.length > 150)
  for (const symbol of exported) {
    const original = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    const comment = ts.displayPartsToString(original.getDocumentationComment(checker))
    t.not(comment, '', `${symbol.name} has a comment`)
    const [declaration] = original.declarations!
    const file = declaration!.getSourceFile().fileName
    if (!GROUPS.some((group) => file.endsWith(`/${group}`))) t.match(readme, `\`${symbol.name}`, symbol.name)
  }
})

/** Names that the blocks of the README use without declaring them. */
const CONTEXT = `
import { Connection } from '@solana/web3.js'
import { createSolanaRpc, createSolanaRpcSubscriptions } from '@solana/kit'
import { ApiError, createMillrace, type SignedTransaction } from 'millrace/client'
const millrace = createMillrace({ url: 'http://127.0.0.1:1', key: 'k' })
declare const mint: string, other: string, wallet: string, url: string, secret: string, rawBody: string
declare const transaction: SignedTransaction
declare const cursor: number
declare const request: { readonly headers: Headers }
declare function store(rows: unknown): void
declare function retryWithNewBlockhash(): void
`

t.test('each block of the README compiles', async (t) => {
  const blocks = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block]) => block!)
  t.ok(blocks.length > 5)
  const functions = blocks.map(
    (block, at) => `export async function block${at}() {\n${block.replaceAll(/^import .*$/gm, '')}\n}`
  )
  const file = join(ROOT, 'test/client/readme-blocks.ts')
  const text = [CONTEXT, ...functions].join('\n')
  const options: ts.CompilerOptions = {
    ...{ noEmit: true, strict: true, noUncheckedIndexedAccess: true, skipLibCheck: true, types: ['node'] },
    ...{ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ESNext, allowImportingTsExtensions: true }
  }
  const host = ts.createCompilerHost(options)
  const withBlocks: ts.CompilerHost = {
    ...host,
    fileExists: (name) => name === file || host.fileExists(name),
    readFile: (name) => (name === file ? text : host.readFile(name)),
    getSourceFile: (name, ...more) =>
      name === file
        ? ts.createSourceFile(name, text, ts.ScriptTarget.ESNext)
        : host.getSourceFile(name, ...more)
  }
  const program = ts.createProgram([file], options, withBlocks)
  const source = program.getSourceFile(file)!
  const faults = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
  t.same(
    faults.map(({ messageText, start }) => [
      ts.flattenDiagnosticMessageText(messageText, ' '),
      text.slice(start).split('\n')[0]
    ]),
    []
  )
})

t.test('every part of the client is in the README', async (t) => {
  const millrace = createMillrace({ url: 'http://127.0.0.1:1', key: 'k' })
  for (const name of Object.keys(millrace)) t.match(readme, new RegExp(`\`${name}(\\(\\))?\``), name)
})
