import { z } from 'zod'

/** A JSON schema, or a part of one, in the form of the document. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Location of named schemas in the document. */
const COMPONENTS = '#/components/schemas/'

/**
 * Converts zod schemas to JSON schemas (2020-12, the dialect of OpenAPI 3.1). A schema with an `id` becomes a
 * component of that name once, and is referenced.
 */
export class JsonSchemas {
  readonly #components = new Map<string, JsonSchema>()

  /** Components by name, sorted. */
  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Returns the schema of a value that clients send. */
  ofInput(schema: z.ZodType): JsonSchema {
    return this.#of(schema, 'input')
  }

  /** Returns the schema of a value that clients receive. */
  ofOutput(schema: z.ZodType): JsonSchema {
    return this.#of(schema, 'output')
  }

  #of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const made = z.toJSONSchema(schema, {
      io,
      override: ({ zodSchema, jsonSchema }) => {
        // Answers may get more fields later, so clients must accept unknown ones.
        if (io === 'output' && jsonSchema.additionalProperties === false) {
          delete jsonSchema.additionalProperties
        }
        // A number in a query arrives as text; the schema describes the number.
        const { type, default: fallback } = z.globalRegistry.get(zodSchema) ?? {}
        if (type !== 'integer' && type !== 'number') return
        delete jsonSchema.pattern
        jsonSchema.default = fallback
      }
    })
    const { $defs: definitions = {}, ...json } = made
    delete json.$schema
    for (const [name, definition] of Object.entries(definitions)) this.#add(name, rooted(definition))
    return rooted(json) as JsonSchema
  }

  #add(name: string, schema: unknown): void {
    const known = this.#components.get(name)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two schemas have the id ${name}`)
    }
    this.#components.set(name, schema as JsonSchema)
  }
}

/** Returns the schema with its references pointing to the document's components, in keywords that generators read. */
function rooted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(rooted)
  if (typeof schema !== 'object' || schema === null) return schema
  const made = Object.entries(schema).map(([keyword, value]) => [
    keyword,
    keyword === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', COMPONENTS) : rooted(value)
  ])
  return readable(Object.fromEntries(made) as JsonSchema)
}

/**
 * Returns a schema of equal meaning that generators of clients read: a tuple is closed by its `maxItems` instead of
 * `items: false` (openapi-python-client), and several types are alternatives (oapi-codegen).
 */
function readable(schema: JsonSchema): JsonSchema {
  const { type, prefixItems, items } = schema
  if (Array.isArray(prefixItems) && items === false)
    return { ...schema, items: {}, maxItems: prefixItems.length }
  if (!Array.isArray(type) || type.filter((one) => one !== 'null').length < 2) return schema
  const { type: _, ...rest } = schema
  return { ...rest, anyOf: type.map((one: unknown) => ({ type: one })) }
}
