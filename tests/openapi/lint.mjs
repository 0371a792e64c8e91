import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';

// Prints what a linter finds in the document whose path is given, as a JSON list of texts.
const [path = ''] = process.argv.slice(2);
const config = await createConfig({ extends: ['recommended-strict'] });
const findings = await lintFromString({ source: readFileSync(path, 'utf8'), config });
console.log(JSON.stringify(findings.map(({ ruleId, message }) => `${ruleId}: ${message}`)));
