package hs2

import (
	"context"
	"fmt"
	"time"

	"github.com/beltran/gohive/hiveserver"
)

// Operation is a running or finished statement.
type Operation struct {
	s       *Session
	handle  *hiveserver.TOperationHandle
	columns []Column
	ended   bool
}

// Column is a column of a result. Type is HiveServer2's word, without _TYPE: BIGINT, DECIMAL, ….
type Column struct {
	Name, Type string
}

// Execute runs a statement and waits until the cluster has done it, or has rows to fetch. When the context ends, now or
// while rows are fetched, the cluster stops working on it.
func (s *Session) Execute(ctx context.Context, sql string) (*Operation, error) {
	req := hiveserver.NewTExecuteStatementReq()
	req.SessionHandle, req.Statement, req.RunAsync = s.handle, sql, true
	var answer *hiveserver.TExecuteStatementResp
	err := s.request(ctx, nil, func(c *hiveserver.TCLIServiceClient) (err error) {
		answer, err = c.ExecuteStatement(context.Background(), req)
		return err
	})
	if err == nil {
		err = statusError(answer.GetStatus())
	}
	if err == nil && answer.OperationHandle == nil {
		err = fmt.Errorf("%w: it gives no operation", ErrLost)
	}
	if err != nil {
		return nil, err
	}
	op := &Operation{s: s, handle: answer.OperationHandle}
	err = op.wait(ctx)
	if err == nil && op.handle.HasResultSet {
		err = op.describe(ctx)
	}
	if err != nil {
		op.Close()
		return nil, err
	}
	return op, nil
}

// The pauses between polls of a statement: short statements should not wait, long ones should not be polled too often.
const (
	firstPause = 2 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// wait waits until the statement has run.
func (op *Operation) wait(ctx context.Context) error {
	pause := firstPause
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		done, err := op.poll(ctx)
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("spark: %w", ctx.Err()) // Close cancels it
		case <-timer.C:
		}
		pause = min(pause*3/2, lastPause)
		timer.Reset(pause)
	}
}

func (op *Operation) poll(ctx context.Context) (done bool, err error) {
	req := hiveserver.NewTGetOperationStatusReq()
	req.OperationHandle = op.handle
	var answer *hiveserver.TGetOperationStatusResp
	err = op.s.request(ctx, op.handle, func(c *hiveserver.TCLIServiceClient) (err error) {
		answer, err = c.GetOperationStatus(context.Background(), req)
		return err
	})
	if err == nil {
		err = statusError(answer.GetStatus())
	}
	if err != nil {
		return false, err
	}
	if ctx.Err() != nil { // and so its state is CANCELED
		return false, fmt.Errorf("spark: %w", ctx.Err())
	}
	switch answer.GetOperationState() {
	case hiveserver.TOperationState_INITIALIZED_STATE, hiveserver.TOperationState_PENDING_STATE, hiveserver.TOperationState_RUNNING_STATE:
		return false, nil
	case hiveserver.TOperationState_FINISHED_STATE:
		return true, nil
	case hiveserver.TOperationState_CANCELED_STATE:
		return false, newStatementError("somebody cancelled the statement on the server")
	case hiveserver.TOperationState_TIMEDOUT_STATE:
		return false, newStatementError("the server's time for one statement is over (spark.sql.thriftServer.queryTimeout)")
	case hiveserver.TOperationState_CLOSED_STATE:
		return false, newStatementError("the server has closed the statement")
	}
	return false, newStatementError(answer.GetErrorMessage())
}

func (op *Operation) describe(ctx context.Context) error {
	req := hiveserver.NewTGetResultSetMetadataReq()
	req.OperationHandle = op.handle
	var answer *hiveserver.TGetResultSetMetadataResp
	err := op.s.request(ctx, op.handle, func(c *hiveserver.TCLIServiceClient) (err error) {
		answer, err = c.GetResultSetMetadata(context.Background(), req)
		return err
	})
	if err == nil {
		err = statusError(answer.GetStatus())
	}
	if err != nil {
		return err
	}
	for _, c := range answer.GetSchema().GetColumns() {
		column := Column{Name: c.ColumnName, Type: "STRING"}
		if types := c.GetTypeDesc().GetTypes(); len(types) > 0 && types[0].PrimitiveEntry != nil {
			column.Type = typeName(types[0].PrimitiveEntry.Type)
		}
		op.columns = append(op.columns, column)
	}
	return nil
}

func typeName(t hiveserver.TTypeId) string {
	const suffix = len("_TYPE")
	if s := t.String(); len(s) > suffix && s[len(s)-suffix:] == "_TYPE" {
		return s[:len(s)-suffix]
	}
	return "STRING"
}

// Columns returns the result's columns; a statement without a result has none.
func (op *Operation) Columns() []Column { return op.columns }

// Fetch returns the next rows, column by column, and nil at the end.
func (op *Operation) Fetch(ctx context.Context) ([]*hiveserver.TColumn, error) {
	if op.ended || len(op.columns) == 0 {
		return nil, nil
	}
	req := hiveserver.NewTFetchResultsReq()
	req.OperationHandle, req.Orientation, req.MaxRows = op.handle, hiveserver.TFetchOrientation_FETCH_NEXT, op.s.o.FetchRows
	var answer *hiveserver.TFetchResultsResp
	err := op.s.request(ctx, op.handle, func(c *hiveserver.TCLIServiceClient) (err error) {
		answer, err = c.FetchResults(context.Background(), req)
		return err
	})
	if err == nil {
		err = statusError(answer.GetStatus())
	}
	if err != nil {
		return nil, err
	}
	columns := answer.GetResults().GetColumns()
	if len(columns) == 0 && len(answer.GetResults().GetRows()) > 0 {
		return nil, fmt.Errorf("%w: it sends rows, not columns", ErrOld)
	}
	if len(columns) == 0 || Length(columns[0]) == 0 { // HasMoreRows cannot be relied on; no rows can
		op.ended = true
		return nil, nil
	}
	if len(columns) != len(op.columns) {
		return nil, fmt.Errorf("%w: it sends %d columns and announced %d", ErrLost, len(columns), len(op.columns))
	}
	return columns, nil
}

// Length returns the number of values of a column.
func Length(c *hiveserver.TColumn) int {
	switch {
	case c.BoolVal != nil:
		return len(c.BoolVal.Values)
	case c.ByteVal != nil:
		return len(c.ByteVal.Values)
	case c.I16Val != nil:
		return len(c.I16Val.Values)
	case c.I32Val != nil:
		return len(c.I32Val.Values)
	case c.I64Val != nil:
		return len(c.I64Val.Values)
	case c.DoubleVal != nil:
		return len(c.DoubleVal.Values)
	case c.StringVal != nil:
		return len(c.StringVal.Values)
	case c.BinaryVal != nil:
		return len(c.BinaryVal.Values)
	}
	return 0
}

// Close ends the statement, finished or not.
func (op *Operation) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), op.s.o.Connect)
	defer cancel()
	req := hiveserver.NewTCloseOperationReq()
	req.OperationHandle = op.handle
	return op.s.request(ctx, nil, func(c *hiveserver.TCLIServiceClient) error {
		answer, err := c.CloseOperation(ctx, req)
		if err != nil {
			return err
		}
		return statusError(answer.GetStatus())
	})
}
