import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['**/node_modules/**', 'data/**', 'dist/**', '.tap/**'] },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: process.cwd() } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true }
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-duplicate-imports': ['error', { allowSeparateTypeImports: true }],
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only src/config/config.ts reads the environment.' },
        { object: 'process', property: 'exit', message: 'Only src/main.ts ends the process.' }
      ]
    }
  },
  {
    files: ['src/config/config.ts', 'src/main.ts', 'test/**/*.ts', 'loadtest/**/*.ts'],
    rules: { 'no-restricted-properties': 'off' }
  },
  // node-tap's `t.test` returns a promise that the runner itself awaits.
  {
    files: ['test/**/*.ts', 'storage/test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['test', 'before', 'teardown'], package: '@tapjs/test' }
          ]
        }
      ]
    }
  }
)
