import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'

/**
 * Builds `millrace/client` and `millrace/webhooks` into `dist/client/`: JavaScript (ES2022) with source maps that carry their
 * sources, and declarations that need no other package. Exits with 1 and the compiler's words where the sources do not compile.
 */

const ROOT = resolve(import.meta.dirname, '..')
const SOURCES = join(ROOT, 'src/client')
const DIST = join(ROOT, 'dist')

const options: ts.CompilerOptions = {
  ...readOptions(),
  noEmit: false,
  rootDir: join(ROOT, 'src'),
  outDir: DIST,
  target: ts.ScriptTarget.ES2022,
  declaration: true,
  sourceMap: true,
  inlineSources: true,
  types: ['node']
}
const program = ts.createProgram(
  ['client.ts', 'webhooks.ts'].map((name) => join(SOURCES, name)),
  options
)
const checker = program.getTypeChecker()

rmSync(join(DIST, 'client'), { recursive: true, force: true })
for (const file of program.getSourceFiles()) {
  if (!file.fileName.startsWith(SOURCES)) continue
  program.emit(file, undefined, undefined, hasTypesAlone(file), { afterDeclarations: [selfContained] })
}
const problems = ts.getPreEmitDiagnostics(program)
if (problems.length > 0) {
  const host = {
    getCurrentDirectory: () => ROOT,
    getCanonicalFileName: (name: string) => name,
    getNewLine: () => '\n'
  }
  console.error(ts.formatDiagnostics(problems, host))
  process.exitCode = 1
}

function readOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (name) => ts.sys.readFile(name)) as {
    readonly config: { readonly compilerOptions: unknown }
  }
  return ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT).options
}

/** Whether nothing of a file runs: it needs no JavaScript, and no map with its whole text. */
function hasTypesAlone(file: ts.SourceFile): boolean {
  return file.statements.every(
    (statement) =>
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      (ts.isImportDeclaration(statement) && statement.importClause?.isTypeOnly === true) ||
      (ts.isExportDeclaration(statement) && statement.isTypeOnly)
  )
}

/**
 * Writes types out that are inferred from schemas of the service, and drops the imports of these schemas: a declaration
 * then needs neither them nor zod.
 */
function selfContained(context: ts.TransformationContext): ts.Transformer<ts.SourceFile | ts.Bundle> {
  return (root) => {
    if (ts.isBundle(root)) throw new Error('declarations are written a file at a time')
    const visit = (node: ts.Node): ts.Node | undefined => {
      if (ts.isImportDeclaration(node) && isOutside((node.moduleSpecifier as ts.StringLiteral).text))
        return undefined
      if (ts.isTypeReferenceNode(node) && refersOutside(node)) return written(node)
      if (ts.isStringLiteral(node) && /^\.\/.*\.ts$/.test(node.text))
        return ts.factory.createStringLiteral(node.text.replace(/\.ts$/, '.js'), true)
      return ts.visitEachChild(node, visit, context)
    }
    return ts.visitEachChild(root, visit, context)
  }
}

function isOutside(module: string): boolean {
  return !module.startsWith('./')
}

/** Whether a type is named by what its file imports from outside the client: `z.output<…>`, `ServerMessage`. */
function refersOutside(node: ts.TypeReferenceNode): boolean {
  const original = ts.getOriginalNode(node) as ts.TypeReferenceNode
  let name = original.typeName
  while (ts.isQualifiedName(name)) name = name.left
  const declared = checker.getSymbolAtLocation(name)?.declarations?.[0]
  const from = declared && ts.findAncestor(declared, ts.isImportDeclaration)
  return from !== undefined && isOutside((from.moduleSpecifier as ts.StringLiteral).text)
}

function written(node: ts.TypeReferenceNode): ts.TypeNode {
  const original = ts.getOriginalNode(node) as ts.TypeReferenceNode
  const flags = ts.NodeBuilderFlags.NoTruncation | ts.NodeBuilderFlags.InTypeAlias
  const type = checker.typeToTypeNode(checker.getTypeFromTypeNode(original), undefined, flags)
  if (type === undefined) throw new Error(`the type ${original.getText()} cannot be written out`)
  return type
}
