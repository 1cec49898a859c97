export { type OpenTelemetryAttribute, type OpenTelemetryOptions, openTelemetry } from '../integrations/opentelemetry/opentelemetry.js';
