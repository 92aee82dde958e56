import { SERVICE_URL, type Call } from './api.ts'

/** Sentences of the API's document about a field and its operation. */
export interface Rule {
  readonly field: string | null
  readonly operation: string | null
  /** Fragment of the operation in the API reference. */
  readonly anchor: string
}

interface Schema {
  readonly $ref?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

interface Operation {
  readonly operationId?: string
  readonly description?: string
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

let document: Promise<Document> | null = null

/** Finds the sentences about a field of an answer in the OpenAPI document, which is read once. */
export async function ruleOf({ template, method }: Call, field: string): Promise<Rule> {
  document ??= fetch(new URL('openapi.json', SERVICE_URL))
    .then((response) => response.json() as Promise<Document>)
    .catch((error: unknown) => {
      document = null
      throw error
    })
  const read = await document.catch(() => null)
  const operation = read?.paths[template]?.[method.toLowerCase()]
  if (read === null || operation === undefined) return { field: null, operation: null, anchor: '' }
  const content = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1].content
  const whole = Object.values(content ?? {})[0]?.schema
  return {
    field: whole === undefined ? null : sentenceOf(read, whole, field.split(/\.|(?=\[\])/)),
    operation: operation.description ?? operation.summary ?? null,
    anchor: `${operation.tags?.[0] ?? ''}/${operation.operationId ?? ''}`
  }
}

/** Returns the description of a field below a schema, or that of the nearest field above it. */
function sentenceOf(document: Document, schema: Schema, steps: readonly string[]): string | null {
  const choices = choicesOf(document, schema)
  const own = choices.map(({ description }) => description).find((text) => text !== undefined) ?? null
  const [step, ...rest] = steps
  if (step === undefined) return own
  for (const { properties, items, additionalProperties } of choices) {
    const next =
      step === '[]'
        ? items
        : (properties?.[step] ??
          (typeof additionalProperties === 'object' ? additionalProperties : undefined))
    if (next !== undefined) return sentenceOf(document, next, rest) ?? own
  }
  return null
}

/** Resolves references and alternatives of a schema; the schema itself comes first, since it says more than its type. */
function choicesOf(document: Document, schema: Schema): Schema[] {
  const { $ref, anyOf = [], allOf = [], oneOf = [] } = schema
  const referred = $ref === undefined ? undefined : document.components.schemas[$ref.split('/').at(-1)!]
  const others = [...(referred === undefined ? [] : [referred]), ...anyOf, ...allOf, ...oneOf]
  return [schema, ...others.flatMap((other) => choicesOf(document, other))]
}
