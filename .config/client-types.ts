/** A JSON schema of the OpenAPI document, with the keywords that its schemas use. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
  readonly format?: string
  readonly description?: string
}

const COMPONENTS = '#/components/schemas/'
/** Longest tuple that is written out; longer arrays of a fixed length are arrays. */
const TUPLE_MAX = 4
const SIMPLE: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null'
}

/** Writes schemas as TypeScript types. Sets of values that have a name are written by it. */
export class TypeWriter {
  readonly #named: ReadonlyMap<string, string>

  /** Takes the names of sets of values, as `Venue`. */
  constructor(named: Readonly<Record<string, readonly unknown[]>>) {
    this.#named = new Map(Object.entries(named).map(([name, values]) => [JSON.stringify(values), name]))
  }

  /** Returns the type of a schema. */
  typeOf(schema: Schema): string {
    const { $ref, const: only, enum: values, anyOf, type } = schema
    if ($ref !== undefined) return componentOf($ref)
    if (only !== undefined) return JSON.stringify(only)
    if (values !== undefined)
      return this.#named.get(JSON.stringify(values)) ?? union(values.map((value) => JSON.stringify(value)))
    if (anyOf !== undefined)
      return union(anyOf.map((one) => this.typeOf({ ...(type === undefined ? {} : { type }), ...one })))
    if (Array.isArray(type)) return union(type.map((one: string) => this.typeOf({ ...schema, type: one })))
    if (type === 'array') return this.#arrayOf(schema)
    if (type === 'object') return this.#objectOf(schema)
    return SIMPLE[String(type)] ?? 'unknown'
  }

  /** Returns the members of an object type, each with its description. */
  membersOf({ properties = {}, required = [], additionalProperties }: Schema): string {
    const members = Object.entries(properties).map(([name, property]) =>
      [
        comment(property.description),
        `readonly ${keyOf(name)}${required.includes(name) ? '' : '?'}: ${this.typeOf(property)}`
      ].join('')
    )
    const isOpen = typeof additionalProperties === 'object'
    return [...members, ...(isOpen ? ['readonly [field: string]: unknown'] : [])].join('\n')
  }

  #objectOf(schema: Schema): string {
    const { properties, additionalProperties } = schema
    if (properties !== undefined) return `{\n${this.membersOf(schema)}\n}`
    const value = typeof additionalProperties === 'object' ? this.typeOf(additionalProperties) : 'unknown'
    return `Readonly<Record<string, ${value}>>`
  }

  #arrayOf({ items, prefixItems, minItems, maxItems }: Schema): string {
    if (prefixItems !== undefined)
      return `readonly [${prefixItems.map((one) => this.typeOf(one)).join(', ')}]`
    const item = items === undefined ? 'unknown' : this.typeOf(items)
    if (minItems === maxItems && minItems !== undefined && minItems <= TUPLE_MAX)
      return `readonly [${Array.from({ length: minItems }, () => item).join(', ')}]`
    return `readonly ${/[|{ ]/.test(item) && !item.startsWith('{') ? `(${item})` : item}[]`
  }
}

/** Returns the name of the component that a reference names. */
export const componentOf = ($ref: string): string => $ref.slice(COMPONENTS.length)

/** Returns a comment in front of a declaration; empty without a text. */
export function comment(text: string | undefined): string {
  if (text === undefined || text === '') return ''
  const lines = text.replaceAll('*/', '* /').split('\n').flatMap(wrapped)
  if (lines.length === 1) return `/** ${lines[0]!} */\n`
  return ['/**', ...lines.map((line) => ` * ${line}`.trimEnd()), ' */\n'].join('\n')
}

/** Returns a name as the key of an object or of a type. */
export function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ')

/** Columns of a comment's text: those of a line, less the indent of a member and the mark. */
const COLUMNS = 100

function wrapped(line: string): string[] {
  const lines: string[] = ['']
  for (const word of line.split(' ')) {
    const last = lines.at(-1)!
    if (last !== '' && last.length + word.length >= COLUMNS) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}
